"""gem5 Exec logs (`--debug-flags=Exec`) of RISC-V, x86 and Arm (AArch64) machines. One log is one history.

A line stands for one committed instruction or micro-operation; the lines of one CPU are in program
order, so a CPU (or hardware thread) is a thread. Ticks only say where an operation came from.

A log holds everything the program did. `--addresses LO:HI` selects the shared locations, by the
address at which an access begins.

What becomes what, where the log leaves a choice:

- A fence is kept with what it orders: RISC-V's `fence w,w` and `fence iorw,ow` (devices do not count) by their
  sets, x86's LFENCE as r.rw, SFENCE as w.w, MFENCE and RISC-V's `fence rw,rw` in full, with their micro-
  operation or (`MFENCE : IntAlu`) without; `XCHG_M_R.mfence` belongs to its locked instruction and is none.
  What a model makes of a weak one is the model's business. A `fence` printed without its sets, by old versions,
  is left out: taking it for a full fence could make a correct machine look broken. gem5 prints `fence.tso` as
  `fence rw, rw`: it cannot be told apart.
- `.aq` and `.rl` of an atomic are kept as its marks; the micro-operations that carry them out are no fences.
- Fences before a thread's first and after its last selected access order nothing and are left out.
- An AMO prints the old value only. The new one is computed from the source register, whose value is the
  last result printed for it on that CPU. A system call makes a0 unknown, and all registers if the CPU
  continues elsewhere (another thread). Kernel code that runs must be in the log.
- A load-reserved and the successful store-conditional to the same bytes are a read and a write, marked as a pair: not
  one rmw, for a later load may overtake the store. A failed store-conditional is nothing. A locked x86 instruction
  (`ldstl`, then `stul`) is one rmw.
- Dependencies of RISC-V accesses are followed through the registers, by syntax: what was loaded into a register that an
  address, a stored value or a branch is made from. Loads that are not selected, system calls and unknown instructions
  make a register unknown; that only drops dependencies, and how many accesses are concerned is noted.
- An rmw that writes back what it read (a failed compare-and-swap) is taken for a read: as a write it would
  have no value of its own. Every history allowed with the rmw is allowed with the read.
- Where the log shows stores reach their cache (`_ruby`), from its beginning, that is the store order, as far as it is
  certain which store it was.
- Arm: `ldr`, `str` and the like are printed alike for 4 and 8 bytes. A value that fits into 4 is taken for one of 4:
  that claims less. A `dmb` or `dsb` without its option is left out, as RISC-V's fences. A store-conditional prints
  neither value nor status: its value is looked up in the registers, and the `cbz` or `cbnz` that follows tells whether
  it succeeded. Dependencies are not followed. Atomics (`ldadd`, `cas`), pairs of words and vectors are refused where
  they are selected. What was not known is noted.
- A line marked FAULTING, in newer versions, did nothing; a system call is carried out as a fault, and counts.
- In older ones, a store that faults is printed and, with the same value, printed again when it is retried: the CPU's
  very next line. It counts once. (Where a handler's lines come between, both count: a read of the value may have
  returned either.) A load that faults has no D=; it must be retried later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import BinaryIO

from gradual.adapters import _arm, _exec_scanner, _riscv, _x86
from gradual.adapters._cpu import Cpu, Line
from gradual.adapters._dependencies import NOWHERE, UNKNOWN_ONLY
from gradual.adapters._ruby import Ruby
from gradual.adapters._selection import Selection, note_dropped
from gradual.adapters._text import stem
from gradual.adapters._thread import Access

from gradual.compiler import can_compile
from gradual.history import EXCLUSIVE, Builder, History, InputError, NoAccess, Options

SUMMARY = "gem5 Exec log (--debug-flags=Exec), RISC-V, x86 or Arm; read only"
EXTENSIONS = ("out",)
EXAMPLE = """\
41000500: system.cpu0: T0 : 0x10c4e @main+64    : c_li a5, 1                 : IntAlu :  D=0x0000000000000001
41001500: system.cpu0: T0 : 0x10c50 @main+66    : sd a5, 0(a0)               : MemWrite :  D=0x0000000000000001 A=0x7f4c0
41001500: system.cpu1: T0 : 0x1067a @th1+4    : ld a4, 0(a1)               : MemRead :  D=0x0000000000000001 A=0x7f4c0
41002500: system.cpu1: T0 : 0x1067e @th1+8    : fence rw, rw               : No_OpClass : 
41003500: system.cpu1: T0 : 0x10682 @th1+12    : c_li a5, 2                 : IntAlu :  D=0x0000000000000002
41004500: system.cpu1: T0 : 0x10684 @th1+14    : amoswap_d a4, a5, (a1)    
41004500: system.cpu1: T0 : 0x10684 @th1+14. 0 : amoswap_d[l] a4, a5, (a1)  : MemRead :  D=0x0000000000000001 A=0x7f4c0
"""  # noqa: E501, W291 - as gem5 prints it

_DEBUG_LINE = re.compile(rb"^ *\d+: [A-Za-z_][\w.\[\]-]*(?:: \S| T\d+ : )", re.MULTILINE)
_PROTOCOL_TRACE = re.compile(rb"^ *\d+ +\d+ +\w+ +\w+ +\w*>\w* ", re.MULTILINE)
_OTHERS = (
    ("ProtocolTrace", _PROTOCOL_TRACE),
    ("RubyTest", re.compile(rb"completed request for proc|RubyTester|hitCallback|: callback")),
    ("MemTest", re.compile(rb"[Ii]nitiating .*(?:read|write) |[Cc]ompleting (?:read|write)")),
    ("MemoryAccess", re.compile(rb"from \S+ of size \d+ on address")),
    ("Cache", re.compile(rb": (?:access|satisfyRequest|handleFill|recvTiming\w+|\w+ for) .*(?:Req|Resp)\b")),
)

_HEAD = re.compile(rb"(?:\w+: )?([^\s:]+):? (?:A\d+ )?(?:T(\d+)|(0x[0-9a-f]+.*|@.*))", re.DOTALL)
"""What stands before a line's second ` : `, after the tick: object, asid, thread, else the pc."""
_ADDRESS = re.compile(rb" A=0x([0-9a-f]+)\s")
_DATA = re.compile(rb" D=(\S*)")
_HEX = re.compile(rb"0x[0-9a-f]+")
_FAULTING = re.compile(rb"\bFAULTING\b")
"""Behind the result of an instruction: it faulted."""

_ACCESSES = _riscv.ATOMIC | {"read", "write", "release", "unsized", "unknown"}
_X86 = ("x86", 0)
_ROLES = _riscv.ROLES | {b"": _X86}  # instructions of x86 and Arm are printed indented
_WORD = 1 << 32


def recognise(head: bytes) -> bool:
    return bool(_DEBUG_LINE.search(head) or _PROTOCOL_TRACE.search(head))


def read(stream: BinaryIO, file: str, options: Options) -> Iterator[History | InputError]:
    reader = _Reader(file, options)
    history: History | InputError
    try:
        reader.read(stream)
        history = reader.finish()
    except InputError as error:
        history = error
    yield history


class _Reader:
    """Reads one log: line by line, and where it is long, by a scanner which leaves the odd lines."""

    def __init__(self, file: str, options: Options) -> None:
        self.builder = Builder(stem(file), file, options)
        self.selection = Selection(options.addresses)
        self.heads: dict[bytes, Cpu] = {}
        """The CPUs by what stands before the pc."""
        self.cpus: dict[tuple[bytes, bytes], Cpu] = {}
        """The CPUs by object and hardware thread."""
        self.other = ""
        """Which other debug flag the log seems to come from."""
        self.ruby = Ruby()
        self.vague: set[str] = set()
        """What the lines of Arm did not tell."""
        self.bare_atomic = 0
        """The line of the first atomic, -1 once one is printed with its result."""

    def read(self, stream: BinaryIO) -> None:
        numbered = enumerate(stream, 1)
        self.lines(islice(numbered, _exec_scanner.FEW))
        more = [*islice(numbered, 1)]
        if more and not self.ruby.seen and can_compile():
            self.ruby.close()  # its lines would have come by now, and the scanner tells it of no store
            ((number, line),) = more
            _exec_scanner.Scanner(self, number).read(line, stream)
        else:
            self.lines(chain(more, numbered))

    def lines(self, numbered: Iterable[tuple[int, bytes]]) -> None:
        """Most set a register and do nothing else, so that is done here."""
        heads, roles = self.heads, _ROLES
        for number, line in numbered:
            tick, _, rest = line.partition(b": ")
            fields = rest.split(b" : ")
            cpu = heads.get(fields[0]) or self._cpu(line, fields)
            if cpu is None or (b"FAULTING" in line and self._faulted(fields)):
                continue
            if len(fields) < 4:
                self._without_result(cpu, fields, number)
                continue
            pc, text, result = fields[1], fields[2], fields[-1]
            if cpu.called:
                cpu.called = False
                cpu.registers.continue_at(pc)
            mnemonic, _, operands = text.partition(b" ")
            role = roles.get(mnemonic)
            if role is not None:
                self._step(cpu, role, Line(number, tick, pc, text, result, fields[3]))
            else:
                cpu.whole = True
                if b" A=" in result:
                    self._access(cpu, "unknown", 0, Line(number, tick, pc, text, result, b""))
                else:
                    sets = result.startswith(b" D=")
                    if sets:
                        cpu.registers.results[operands.partition(b",")[0].rstrip()] = result
                    cpu.registers.dependencies.follow(_riscv.use(text), sets)
            cpu.pc = pc

    def finish(self) -> History:
        for cpu in self.cpus.values():
            cpu.settle()
            if cpu.exclusive is not None:
                raise self._untold(cpu.exclusive)
        self._refuse_unfinished()
        self.ruby.tell(self.builder)
        if self.vague:
            self.builder.note(f"gem5 does not tell everything about Arm: {'; '.join(sorted(self.vague))}")
        if not len(self.builder):
            raise NoAccess(self._nothing(), self.builder.file, 0, self.builder.name)
        note_dropped(self.builder, (cpu.registers.dependencies for cpu in self.cpus.values()))
        return self.selection.built(self.builder)

    def cpu_of(self, line: bytes) -> Cpu | None:
        fields = line.partition(b": ")[2].split(b" : ")
        return self.heads.get(fields[0]) or self._cpu(line, fields)

    def role_of(self, text: bytes, operation: bytes, accesses: bool) -> _riscv.Role | None:
        """What an instruction with a result does; None where no table has it. `accesses`: its address is printed."""
        role = _ROLES.get(text.partition(b" ")[0])
        return _x86.does(text, operation, accesses) if role is _X86 else role

    def _cpu(self, line: bytes, fields: list[bytes]) -> Cpu | None:
        """The CPU of a line whose head is new, None where it is no Exec line.

        Where the log has no thread numbers, the head holds the pc: it is split off into `fields`.
        """
        head = _HEAD.fullmatch(fields[0])
        if head is not None and head[3] is not None:
            fields[:1] = [b"", head[3]]
        if head is None or len(fields) < 3 or not fields[1].startswith((b"0x", b"@")):
            self.ruby.look(line)
            if not self.other and not self.cpus:
                self.other = next((name for name, pattern in _OTHERS if pattern.search(line)), "")
            return None
        key = head[1], head[2] or b"0"
        if key not in self.cpus:
            self.cpus[key] = Cpu(self._name(*key), self.builder)
        if head[3] is None:
            self.heads[fields[0]] = self.cpus[key]
        return self.cpus[key]

    def _name(self, component: bytes, thread: bytes) -> str:
        """`cpu0` for system.cpu0, `cores0` for board.processor.cores0.core; all of it where that is taken."""
        path, suffix = component.decode(errors="replace"), "" if thread == b"0" else f".T{thread.decode()}"
        short = path.removesuffix(".core").rpartition(".")[2] + suffix
        return path + suffix if any(cpu.name == short for cpu in self.cpus.values()) else short

    def _without_result(self, cpu: Cpu, fields: list[bytes], number: int) -> None:
        """An instruction whose micro-operations follow, or a line that was cut off."""
        mnemonic = fields[-1].partition(b" ")[0]
        does = _ROLES.get(mnemonic, ("nothing", 0))[0]
        if does in _ACCESSES and not fields[-1].endswith(b"\n"):
            raise self._cut_off(number)
        if does in _riscv.ATOMIC:
            cpu.ordering = _riscv.marks(mnemonic)
            if self.bare_atomic == 0:
                self.bare_atomic = number

    def _faulted(self, fields: list[bytes]) -> bool:
        """Whether a line is of an instruction that did nothing, because it faulted."""
        if not any(_FAULTING.search(field) for field in fields[3:]):
            return False
        does = _ROLES.get(fields[2].partition(b" ")[0], ("nothing", 0))[0]
        if does in _riscv.ATOMIC:
            self.bare_atomic = -1
        return does != "ecall" and not _arm.calls(fields[2])

    def _step(self, cpu: Cpu, role: _riscv.Role, line: Line) -> None:
        """What an instruction does beyond setting a register."""
        if role is _X86 and not line.text.isupper():
            self._arm_step(cpu, line)
            return
        does, size = self._x86_role(cpu, line) if role is _X86 else role
        self.builder.tears |= role is not _X86
        if does in _ACCESSES:
            self._access(cpu, does, size, line)
        elif does == "fence":
            if orders := size or _riscv.fence_orders(line.operands):
                cpu.fence(orders, line.number, self._tick(line))
        elif does == "ecall":
            cpu.called = True
            cpu.registers.system_call(line.pc)
        elif does == "link":
            cpu.registers.results[b"ra"] = line.result
            cpu.registers.dependencies.follow(_riscv.use(line.text), True)
        elif does == "rest":  # it may set the register the first half was printed with, or another
            cpu.registers.results.pop(line.register, None)

    def _x86_role(self, cpu: Cpu, line: Line) -> _riscv.Role:
        accesses = b" A=" in line.result
        cpu.whole = cpu.whole or not accesses
        return _x86.does(line.text, line.operation, accesses)

    def _arm_step(self, cpu: Cpu, line: Line) -> None:
        """The same, of Arm."""
        accesses, sets = b" A=" in line.result, b" D=" in line.result
        cpu.whole = cpu.whole or not accesses
        self.builder.tears = True
        self._settle_exclusive(cpu, line)
        does, size = _arm.role(line.text, line.operation) or ("unknown" if accesses else "", 0)
        if does == "fence" and size:
            cpu.fence(size, line.number, self._tick(line))
        elif does == "fence":
            self.vague.add("barriers without their option (dmb, dsb) are left out")
        elif does == "call":
            cpu.registers.results.clear()
        elif does in _ACCESSES or does == "exclusive":
            self._access(cpu, does, size, line)
        elif not does:
            target, known = _arm.sets(line.text)
            if sets and known:
                cpu.registers.results[target] = line.result
            else:
                cpu.registers.results.pop(target, None)

    def _settle_exclusive(self, cpu: Cpu, line: Line) -> None:
        """Whether the store-conditional before succeeded, if this line tells."""
        held = cpu.exclusive
        if held is None:
            return
        if held.branch is None:
            cpu.exclusive = held.followed(line.text, line.pc)
            if cpu.exclusive.branch is None and b" A=" in line.result:
                raise self._untold(held)
            return
        cpu.exclusive, taken = None, held.branch.taken(line.pc)
        if taken is None:
            raise self._untold(held)
        if taken != held.branch.on_success:
            cpu.fail()
            return
        register, value = held.stored
        if value is None:
            raise self._unknown_register(cpu, held.words, register, held.access.line)
        access, before = held.access._replace(size=held.access.size or _size(value)), cpu.count
        cpu.conditional(access, value & access.mask)
        self._stored(cpu, before, access, value)

    def _untold(self, held: _arm.Exclusive) -> InputError:
        return self.builder.error(f"nothing tells whether {held.words} succeeded: no cbz or cbnz looks at its status "
                                  "before the next access", held.access.line)

    def _access(self, cpu: Cpu, does: str, size: int, line: Line) -> None:
        """An access: into the history where it is selected, and into the register where it sets one."""
        result = line.result
        if not result.endswith(b"\n"):
            raise self._cut_off(line.number)
        found = _ADDRESS.search(result)
        if found is None and (b" D=" in result or b" A=" in result):
            raise self.builder.error("this access has no readable address (A=); gem5 prints it with "
                                     "--debug-flags=Exec (ExecEffAddr)", line.number)
        if found is None or result.startswith(b"Predicated False"):
            return  # it faulted before there was an address, or its condition was false
        if does in _riscv.ATOMIC:
            self.bare_atomic = -1
        address = int(found[1], 16)
        riscv, dependencies = line.of == "riscv", cpu.registers.dependencies
        came = UNKNOWN_ONLY
        if not self.selection.has(address):
            if does == "write" and size and self.ruby.seen and (value := self._data(line)) is not None:
                self.ruby.store(Access(address, size, line.number, 0), value)
        else:
            before = cpu.count
            depends = dependencies.of_access(*_riscv.made_from(does, line.text)) if riscv and b" D=" in result else None
            marks = _marks(cpu, does, line)
            self._record(cpu, does, Access(address, size, line.number, self._tick(line), marks, depends), line)
            came = frozenset({cpu.count}) if cpu.count > before else NOWHERE
        if does == "unknown":
            cpu.registers.results.pop(line.register, None)
        elif does not in ("write", "exclusive") and b" D=" in result:
            cpu.registers.results[line.register] = result
        if riscv and does != "write":
            dependencies.come(line.register, came)

    def _record(self, cpu: Cpu, does: str, access: Access, line: Line) -> None:
        """A selected access becomes an operation, if it took place and has a value."""
        if does == "unknown":
            raise self.builder.error(f"{line} is no RISC-V, x86 or Arm access this reader knows", line.number)
        if does == "unsized":
            raise self.builder.error(f"{line} does not tell how wide the access is, or its whole value; "
                                     "select addresses that are accessed with general registers", line.number)
        if does == "exclusive":
            names = [_arm.register(name) for name in _arm.operands(line.text)[:2]]
            cpu.exclusive = _arm.Exclusive(access, {name: cpu.registers.value(name) for name in names}, str(line))
            return
        value = self._data(line)
        if value is not None and not access.size:
            access = access._replace(size=_size(value))
            self.vague.add("whether ldr, str and the like access 4 or 8 bytes")
        if value is None and does == "conditional":
            raise self.builder.error(f"{line} does not tell whether it succeeded (D=)", line.number)
        if value is None:
            cpu.unfinished.setdefault((line.pc, access.address), line.number)
            return
        cpu.unfinished.pop((line.pc, access.address), None)
        masked = value & access.mask
        if does == "read":
            cpu.read(access, masked)
        elif does == "reserve":
            cpu.reserve(access, masked)
        elif does == "write" or does == "release":
            if not cpu.repeats(line.pc, access, masked):
                before = cpu.count
                (cpu.write if does == "write" else cpu.release)(access, masked)
                self._stored(cpu, before if does == "write" else cpu.count, access, masked)
        elif does == "conditional" and value != 0:
            cpu.fail()
        else:
            self._atomic(cpu, access, masked, line)

    def _atomic(self, cpu: Cpu, access: Access, old: int, line: Line) -> None:
        """An AMO or a successful store-conditional: what it writes is in its source register."""
        source = cpu.registers.value(line.source)
        if source is None:
            raise self._unknown_register(cpu, str(line), line.source, line.number)
        source &= access.mask
        before = cpu.count
        if line.text.startswith(b"sc"):
            cpu.conditional(access, source)
            self._stored(cpu, before, access, source)
        else:
            new = _riscv.amo_result(line.text, access.size, old, source)
            cpu.rmw(access, old, new)
            self._stored(cpu, before if new != old else cpu.count, access, new)

    def _stored(self, cpu: Cpu, before: int, access: Access, value: int) -> None:
        """A store, which is the CPU's last operation if there is one more than before."""
        self.ruby.store(access, value, cpu.name, cpu.count if cpu.count > before else 0)

    def _unknown_register(self, cpu: Cpu, words: str, register: bytes, line: int) -> InputError:
        return self.builder.error(
            f"what {words} on {cpu.name} writes is in register {register.decode(errors='replace').lower()}, whose "
            "value the log does not show before this line: the log must start earlier, or include the "
            "instruction which sets the register", line)

    def _data(self, line: Line) -> int | None:
        """The value an access printed, None where it printed none."""
        found = _DATA.search(line.result)
        if found is None:
            return None
        if not _HEX.fullmatch(found[1]):
            raise self.builder.error(f"the value of {line} is not a hex number (D=0x…)", line.number)
        return int(found[1], 16)

    def _tick(self, line: Line) -> int:
        text = line.tick.strip()
        if not text.isdigit() or len(text) > 18:  # 18 digits always fit into a column
            raise self.builder.error("this line does not begin with a tick", line.number)
        return int(text)

    def _cut_off(self, number: int) -> InputError:
        return self.builder.error("the log ends in the middle of this access (there is no line end); take "
                                  "the line out", number)

    def _refuse_unfinished(self) -> None:
        """Accesses must have got their value by the end, in a later attempt if they faulted."""
        lines = [number for cpu in self.cpus.values() for number in cpu.unfinished.values()]
        if lines:
            raise self.builder.error(
                "this access has an address (A=) but no value (D=), and is not tried again later; gem5 "
                "prints values with --debug-flags=Exec (ExecResult)", min(lines))
        if self.bare_atomic > 0:
            raise self.builder.error(
                "this atomic instruction is printed without its micro-operations, which carry its values; "
                "gem5 prints them with --debug-flags=Exec (ExecMicro)", self.bare_atomic)

    def _nothing(self) -> str:
        """Why there is no operation."""
        if missed := self.selection.missed():
            return missed
        if self.cpus:
            return ("this Exec log shows no access with its address and value (A= and D=); gem5 prints them "
                    "with --debug-flags=Exec (ExecResult, ExecEffAddr and, for x86, ExecMicro)")
        kind = f"it looks like a {self.other} log, which carries no data values that can be used" if self.other else (
            "its lines are from other debug flags, if it is from gem5 at all")
        return f"this log has no Exec lines: {kind}. Run gem5 with --debug-flags=Exec"


def _marks(cpu: Cpu, does: str, line: Line) -> int:
    """The marks of an access: an atomic's acquire and release stand in the line before, or here in old versions."""
    if line.of == "arm":
        return _arm.marks(line.text)
    if does not in _riscv.ATOMIC or line.of == "x86":
        return 0
    ordering, cpu.ordering = cpu.ordering, 0
    return ordering | _riscv.marks(line.text.partition(b" ")[0]) | (0 if does == "rmw" else EXCLUSIVE)


def _size(value: int) -> int:
    """The width of an access of Arm that may be of 4 bytes or 8."""
    return 4 if value < _WORD else 8
