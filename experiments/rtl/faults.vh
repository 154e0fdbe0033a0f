// The faults a designer could make, one at a time: the parameter FAULT holds the number, 0 is the sound design.
// faults.py reads this table. A fault marked [buffers] is in the store buffers, and needs BUFFERS = 1 to show.
`define MISSING_INVALIDATION   1  // a snooped BusRdX takes Modified copies away, and leaves Shared ones valid
`define STALE_SUPPLY           2  // memory answers a read, although another cache holds the line Modified
`define LOST_WRITE_BACK        3  // a Modified line is evicted without being written back
`define SILENT_UPGRADE         4  // a write to a Shared line makes it Modified without telling the others
`define LOST_WRITE             5  // a write hit is not held up by a snoop of its line in the same cycle
`define UNFLUSHED_DOWNGRADE    6  // a snooped BusRd of a Modified line gives the data away, memory is not updated
`define STALE_TAG              7  // a fill does not update the tag of a line that was valid
`define MODIFIED_FILL          8  // a read miss fills the line as Modified instead of Shared
`define STALE_UPGRADE          9  // BusUpgr is still sent when the Shared copy went away while waiting for the bus
`define UNSNOOPED_VICTIM      10  // a snoop does not look into the write-back buffer
`define WRONG_WRITE_BACK      11  // an evicted line is written back to the address of the line that replaces it
`define SHARED_RMW            12  // an rmw does not take ownership: a Shared copy is good enough
`define MISSING_DOWNGRADE     13  // a snooped BusRd flushes a Modified line, but leaves it Modified
`define UNFLUSHED_INVALIDATE  14  // a snooped BusRdX drops a Modified line without handing over the data
`define UNSNOOPED_UPGRADE     15  // a BusUpgr is sent, but the others do not snoop it
`define NO_FORWARDING         16  // [buffers] a load does not look into its core's store buffer
`define OLDEST_FORWARDED      17  // [buffers] of several buffered stores to the address, a load gets the oldest
`define LIFO_BUFFER           18  // [buffers] the newest store leaves the buffer first
`define IGNORED_FENCE         19  // [buffers] a fence does not wait for the buffer to drain
`define OVERTAKING_RMW        20  // [buffers] an rmw does not wait for the buffer to drain
`define SPLIT_RMW             21  // [buffers] an rmw is a load, and a store that goes through the buffer
`define BUFFER_OVERFLOW       22  // [buffers] the test for a full buffer is off by one: the oldest is overwritten
`define FORWARDED_ALIAS       23  // [buffers] forwarding compares all but the top bit of the address
