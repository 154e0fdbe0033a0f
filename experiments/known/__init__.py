"""Histories that know more than their values: agreement with brute force, and what it saves."""
