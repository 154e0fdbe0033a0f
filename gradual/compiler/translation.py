"""Kernels in the language of LLVM.

A kernel is a Python function on numbers and on tables whose rows have named fields, in a small part of the language:
assignments, `if`, `while`, `for … in range`, arithmetic, comparisons, `len`, `min`, `max`, calls of other kernels.
Whole numbers have 64 bits, whatever a field holds. A *context* is a named tuple of tables and the only thing besides
numbers that is passed on: in memory, an address and a length per table.

The text is plain: a place on the stack for each variable, a jump for each `and`. LLVM makes the best of it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

INT, FLOAT, BOOL, NOTHING = "i64", "double", "i1", "void"
RETURNED = {"int": INT, "bool": BOOL, "None": NOTHING}
FIELD = {"u1": "i8", "i4": "i32", "i8": INT, "f8": FLOAT}
OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "shl", ast.RShift: "ashr", ast.FloorDiv: "@floor_divide", ast.Mod: "@modulo"}
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"), ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"), ast.GtE: ("sge", "oge")}
CONVERSIONS = {(BOOL, INT): "zext", (BOOL, "i32"): "zext", ("i32", INT): "sext", (INT, "i32"): "trunc",
               ("i8", INT): "zext", (INT, "i8"): "trunc", (INT, FLOAT): "sitofp"}

ROUNDING = """
define internal i64 @floor_divide(i64 %a, i64 %b) alwaysinline {
  %quotient = sdiv i64 %a, %b
  %rest = srem i64 %a, %b
  %signs = xor i64 %rest, %b
  %apart = icmp slt i64 %signs, 0
  %uneven = icmp ne i64 %rest, 0
  %down = and i1 %apart, %uneven
  %one = zext i1 %down to i64
  %floor = sub i64 %quotient, %one
  ret i64 %floor
}

define internal i64 @modulo(i64 %a, i64 %b) alwaysinline {
  %floor = call i64 @floor_divide(i64 %a, i64 %b)
  %whole = mul i64 %floor, %b
  %rest = sub i64 %a, %whole
  ret i64 %rest
}

declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
"""


@dataclass(frozen=True)
class Value:
    """Something that was computed: its name in LLVM, and its type. A row is the address of a record."""

    text: str
    type: str
    row: np.dtype[Any] | None = None


class Program:
    """The kernels of some modules, for contexts like the examples: annotations of parameters name them."""

    def __init__(self, modules: tuple[ModuleType, ...], examples: Mapping[str, Any]) -> None:
        self.contexts = {name: {field: (place, table.dtype) for place, (field, table) in
                                enumerate(zip(example._fields, example, strict=True))}
                         for name, example in examples.items()}
        self.kernels: dict[str, tuple[ast.FunctionDef, ModuleType]] = {}
        for module in modules:
            for node in ast.parse(inspect.getsource(module)).body:
                if isinstance(node, ast.FunctionDef) and hasattr(vars(module).get(node.name), "__kernel__"):
                    self.kernels[node.name] = node, module
        self._fields: dict[str, int] = {}

    def text(self, entry: str) -> str:
        """An entry and all that it calls."""
        wanted, functions = [entry], []
        for name in wanted:
            translation = _Translation(self, *self.kernels[name])
            functions.append(translation.text("" if name == entry else "internal "))
            wanted += [called for called in translation.called if called not in wanted]
        return "\n".join([ROUNDING, *functions, *self._metadata()])

    def apart(self, field: str) -> str:
        """The mark of a load or store: fields of different names never share memory."""
        return f"!tbaa !{2 * self._fields.setdefault(field, len(self._fields)) + 3}"

    def _metadata(self) -> list[str]:
        lines = ["!0 = !{}", '!1 = !{!"fields"}']
        for field, number in self._fields.items():
            lines += [f'!{2 * number + 2} = !{{!"{field}", !1}}',
                      f"!{2 * number + 3} = !{{!{2 * number + 2}, !{2 * number + 2}, i64 0}}"]
        return lines


class _Translation:
    """One kernel."""

    def __init__(self, program: Program, function: ast.FunctionDef, module: ModuleType) -> None:
        self.called: dict[str, None] = {}
        self._program, self._function, self._module = program, function, module
        self._places: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._variables: dict[str, Value] = {}
        self._contexts: dict[str, dict[str, tuple[int, Any]]] = {}
        self._loops: list[tuple[str, str]] = []
        self._returned = RETURNED[ast.unparse(function.returns)] if function.returns else NOTHING

    def text(self, linkage: str) -> str:
        parameters = [self._parameter(argument) for argument in self._function.args.args]
        self._block(self._function.body)
        self._lines.append("ret void" if self._returned == NOTHING else "unreachable")
        head = f"define {linkage}{self._returned} @{self._function.name}({', '.join(parameters)}) nounwind {{"
        return "\n  ".join([head, *self._places, *self._lines]) + "\n}\n"

    def _parameter(self, argument: ast.arg) -> str:
        of = ast.unparse(argument.annotation) if argument.annotation else ""
        if of in self._program.contexts:
            self._contexts[argument.arg] = self._program.contexts[of]
            return f"ptr noalias %{argument.arg}"
        self._store(self._variable(argument.arg, INT), Value(f"%{argument.arg}", INT))
        return f"{INT} %{argument.arg}"

    # --- lines

    def _refuse(self, node: ast.AST) -> NotImplementedError:
        where = f"{self._module.__file__}, line {getattr(node, 'lineno', '?')}"
        return NotImplementedError(f"{where}: kernels cannot say `{ast.unparse(node)}`")

    def _new(self, line: str, type_: str, row: Any = None) -> Value:
        self._count += 1
        self._lines.append(f"%.{self._count} = {line}")
        return Value(f"%.{self._count}", type_, row)

    def _label(self) -> str:
        self._count += 1
        return f"L{self._count}"

    def _at(self, label: str) -> None:
        self._lines.append(f"br label %{label}")
        self._lines.append(f"{label}:")

    def _jump(self, label: str) -> None:
        """Leave this place; what follows is reached by nobody, or by a label of its own."""
        self._lines += [f"br label %{label}", f"{self._label()}:"]

    def _variable(self, name: str, type_: str, row: Any = None) -> Value:
        self._count += 1
        place = Value(f"%{name}.{self._count}", type_, row)
        self._places.append(f"{place.text} = alloca {type_}")
        self._variables[name] = place
        return place

    def _store(self, place: Value, value: Value) -> None:
        self._lines.append(f"store {place.type} {self._as(value, place.type).text}, ptr {place.text}")

    def _as(self, value: Value, type_: str) -> Value:
        if value.type == type_:
            return value
        conversion = CONVERSIONS.get((value.type, type_))
        if conversion is None:
            raise NotImplementedError(f"{self._module.__file__}, {self._function.name}: {value.type} is no {type_}")
        return self._new(f"{conversion} {value.type} {value.text} to {type_}", type_)

    # --- statements

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            method: Callable[[Any], None] | None = getattr(self, f"_{type(statement).__name__}", None)
            if method is None:
                raise self._refuse(statement)
            method(statement)

    def _Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self._value(node.value)

    def _Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            values = [self._value(value) for value in node.value.elts]
            for each, value in zip(target.elts, values, strict=True):
                self._set(each, value)
        else:
            self._set(target, self._value(node.value))

    def _AugAssign(self, node: ast.AugAssign) -> None:
        former = ast.copy_location(ast.parse(ast.unparse(node.target), mode="eval").body, node)
        self._set(node.target, self._value(ast.copy_location(ast.BinOp(former, node.op, node.value), node)))

    def _set(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Attribute):
            place, of = self._field(target)
            stored = self._as(value, of)
            self._lines.append(f"store {of} {stored.text}, ptr {place}, {self._program.apart(target.attr)}")
        elif isinstance(target, ast.Name):
            place_ = self._variables.get(target.id) or self._variable(target.id, value.type, value.row)
            self._store(place_, value)
        else:
            raise self._refuse(target)

    def _If(self, node: ast.If) -> None:
        then, otherwise, after = self._label(), self._label(), self._label()
        self._decide(node.test, then, otherwise)
        self._lines.append(f"{then}:")
        self._block(node.body)
        self._lines += [f"br label %{after}", f"{otherwise}:"]
        self._block(node.orelse)
        self._at(after)

    def _While(self, node: ast.While) -> None:
        again, body, after = self._label(), self._label(), self._label()
        self._at(again)
        self._decide(node.test, body, after)
        self._lines.append(f"{body}:")
        self._repeat(node.body, again, after)
        self._lines += [f"br label %{again}", f"{after}:"]

    def _For(self, node: ast.For) -> None:
        """Bounds and step are looked at once; the step is a plain number."""
        if not (isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
                and ast.unparse(node.iter.func) == "range"):
            raise self._refuse(node.iter)
        arguments = node.iter.args
        step = ast.literal_eval(arguments[2]) if len(arguments) == 3 else 1
        bounds = [self._as(self._value(bound), INT) for bound in arguments[:2]]
        first, past = bounds if len(bounds) == 2 else (Value("0", INT), bounds[0])
        counter = self._variable(f"{node.target.id}.counter", INT)
        self._store(counter, first)
        test, body, further, after = (self._label() for _ in range(4))
        self._at(test)
        at = self._new(f"load i64, ptr {counter.text}", INT)
        on = self._new(f"icmp {'slt' if step > 0 else 'sgt'} i64 {at.text}, {past.text}", BOOL)
        self._lines += [f"br i1 {on.text}, label %{body}, label %{after}", f"{body}:"]
        self._set(node.target, at)
        self._repeat(node.body, further, after)
        self._at(further)
        self._store(counter, self._new(f"add i64 {at.text}, {step}", INT))
        self._lines += [f"br label %{test}", f"{after}:"]

    def _repeat(self, body: list[ast.stmt], again: str, after: str) -> None:
        self._loops.append((again, after))
        self._block(body)
        self._loops.pop()

    def _Continue(self, _: ast.Continue) -> None:
        self._jump(self._loops[-1][0])

    def _Break(self, _: ast.Break) -> None:
        self._jump(self._loops[-1][1])

    def _Return(self, node: ast.Return) -> None:
        value = self._as(self._value(node.value), self._returned) if node.value else None
        self._lines += [f"ret {self._returned} {value.text if value else ''}", f"{self._label()}:"]

    # --- tables

    def _row(self, node: ast.expr) -> Value:
        """A row: `g.table[number]`, or a variable that holds one."""
        if isinstance(node, ast.Name) and node.id in self._variables:
            return self._value(node)
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute)):
            raise self._refuse(node)
        place, record = self._table(node.value)
        start = self._new(f"load ptr, ptr {place}, !invariant.load !0", "ptr")
        number = self._as(self._value(node.slice), INT)
        return self._new(f"getelementptr inbounds [{record.itemsize} x i8], ptr {start.text}, i64 {number.text}", "ptr",
                         record)

    def _table(self, node: ast.Attribute) -> tuple[str, np.dtype[Any]]:
        """Where the address of a table stands, its length behind it."""
        if not (isinstance(node.value, ast.Name) and node.attr in self._contexts.get(node.value.id, ())):
            raise self._refuse(node)
        number, record = self._contexts[node.value.id][node.attr]
        return self._new(f"getelementptr inbounds i8, ptr %{node.value.id}, i64 {16 * number}", "ptr").text, record

    def _field(self, node: ast.Attribute) -> tuple[str, str]:
        row = self._row(node.value)
        if row.row is None or row.row.fields is None or node.attr not in row.row.fields:
            raise self._refuse(node)
        of, offset = row.row.fields[node.attr][:2]
        place = self._new(f"getelementptr inbounds i8, ptr {row.text}, i64 {offset}", "ptr")
        return place.text, FIELD[of.str[1:]]

    # --- expressions

    def _value(self, node: ast.expr) -> Value:
        method: Callable[[Any], Value] | None = getattr(self, f"_value_{type(node).__name__}", None)
        if method is None:
            raise self._refuse(node)
        return method(node)

    def _value_Constant(self, node: ast.Constant) -> Value:
        return self._constant(node.value, node)

    def _constant(self, value: Any, node: ast.expr) -> Value:
        if isinstance(value, bool):
            return Value(str(int(value)), BOOL)
        if isinstance(value, int):
            return Value(str(value), INT)
        if isinstance(value, float):
            return Value(f"0x{np.float64(value).view(np.uint64):016X}", FLOAT)
        raise self._refuse(node)

    def _value_Name(self, node: ast.Name) -> Value:
        if node.id in self._variables:
            place = self._variables[node.id]
            return self._new(f"load {place.type}, ptr {place.text}", place.type, place.row)
        return self._constant(vars(self._module).get(node.id), node)

    def _value_Subscript(self, node: ast.Subscript) -> Value:
        return self._row(node)

    def _value_Attribute(self, node: ast.Attribute) -> Value:
        place, of = self._field(node)
        loaded = self._new(f"load {of}, ptr {place}, {self._program.apart(node.attr)}", of)
        return self._as(loaded, INT) if of in ("i8", "i32") else loaded

    def _value_BinOp(self, node: ast.BinOp) -> Value:
        left, right = self._alike(self._value(node.left), self._value(node.right))
        operation = OPERATIONS.get(type(node.op))
        if operation is None:
            raise self._refuse(node)
        if left.type == FLOAT:
            return self._new(f"f{operation} double {left.text}, {right.text}", FLOAT)
        if operation.startswith("@"):
            return self._new(f"call i64 {operation}(i64 {left.text}, i64 {right.text})", INT)
        return self._new(f"{operation} i64 {left.text}, {right.text}", INT)

    def _alike(self, left: Value, right: Value) -> tuple[Value, Value]:
        wider = FLOAT if FLOAT in (left.type, right.type) else INT
        return self._as(left, wider), self._as(right, wider)

    def _value_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.USub):
            return self._value(ast.copy_location(ast.BinOp(ast.Constant(0), ast.Sub(), node.operand), node))
        return self._decided(node)

    def _value_Compare(self, node: ast.Compare) -> Value:
        if len(node.ops) != 1 or type(node.ops[0]) not in COMPARISONS:
            return self._decided(node)
        whole, real = COMPARISONS[type(node.ops[0])]
        left, right = self._alike(self._value(node.left), self._value(node.comparators[0]))
        comparison = f"fcmp {real}" if left.type == FLOAT else f"icmp {whole}"
        return self._new(f"{comparison} {left.type} {left.text}, {right.text}", BOOL)

    def _value_BoolOp(self, node: ast.BoolOp) -> Value:
        return self._decided(node)

    def _decided(self, node: ast.expr) -> Value:
        return self._value_IfExp(ast.copy_location(ast.IfExp(node, ast.Constant(True), ast.Constant(False)), node))

    def _value_IfExp(self, node: ast.IfExp) -> Value:
        then, otherwise, after = self._label(), self._label(), self._label()
        self._decide(node.test, then, otherwise)
        self._lines.append(f"{then}:")
        value = self._value(node.body)
        place = self._variable(".either", value.type, value.row)
        self._store(place, value)
        self._lines += [f"br label %{after}", f"{otherwise}:"]
        self._store(place, self._value(node.orelse))
        self._at(after)
        return self._new(f"load {place.type}, ptr {place.text}", place.type, place.row)

    def _value_Call(self, node: ast.Call) -> Value:
        name = ast.unparse(node.func)
        if name == "len" and isinstance(node.args[0], ast.Attribute):
            length = self._new(f"getelementptr inbounds i8, ptr {self._table(node.args[0])[0]}, i64 8", "ptr")
            return self._new(f"load i64, ptr {length.text}, !invariant.load !0", INT)
        if name in ("min", "max"):
            left, right = (self._as(self._value(argument), INT) for argument in node.args)
            return self._new(f"call i64 @llvm.s{name}.i64(i64 {left.text}, i64 {right.text})", INT)
        if name not in self._program.kernels:
            raise self._refuse(node)
        return self._call(name, node.args)

    def _call(self, name: str, arguments: list[ast.expr]) -> Value:
        self.called[name] = None
        passed = [f"ptr %{each.id}" if isinstance(each, ast.Name) and each.id in self._contexts
                  else f"i64 {self._as(self._value(each), INT).text}" for each in arguments]
        function = self._program.kernels[name][0]
        returned = RETURNED[ast.unparse(function.returns)] if function.returns else NOTHING
        call = f"call {returned} @{name}({', '.join(passed)})"
        if returned == NOTHING:
            self._lines.append(call)
            return Value("", NOTHING)
        return self._new(call, returned)

    # --- conditions

    def _decide(self, node: ast.expr, yes: str, no: str) -> None:
        """Go to one of two labels."""
        if isinstance(node, ast.BoolOp):
            for value in node.values[:-1]:
                further = self._label()
                self._decide(value, *((further, no) if isinstance(node.op, ast.And) else (yes, further)))
                self._lines.append(f"{further}:")
            self._decide(node.values[-1], yes, no)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._decide(node.operand, no, yes)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
            listed = node.comparators[0]
            each: list[ast.expr] = [ast.Compare(node.left, [ast.Eq()], [element])
                                    for element in getattr(listed, "elts", ())]
            self._decide(ast.BoolOp(ast.Or(), each), yes, no)
        else:
            found = self._value(node)
            if found.type == INT:
                found = self._new(f"icmp ne i64 {found.text}, 0", BOOL)
            self._lines.append(f"br i1 {found.text}, label %{yes}, label %{no}")
