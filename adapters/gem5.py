"""gem5 Exec logs (`--debug-flags=Exec`) of RISC-V and x86 machines. One log is one history.

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
- A store that faults is printed and, with the same value, printed again when it is retried: the CPU's
  very next line. It counts once. (Where a handler's lines come between, both count, and if the value is
  read it is refused for having two origins.) A load that faults has no D=; it must be retried later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from gradual.adapters import _riscv, _x86
from gradual.adapters._cpu import Access, Cpu, Line
from gradual.adapters._text import stem

from gradual.history import EXCLUSIVE, Builder, History, InputError, Options

SUMMARY = "gem5 Exec log (--debug-flags=Exec), RISC-V or x86; read only"
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

_ACCESSES = _riscv.ATOMIC | {"read", "write", "release", "unsized", "unknown"}
_X86 = ("x86", 0)
_ROLES = _riscv.ROLES | {b"": _X86}  # only x86 micro-operations are printed indented


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
    """Reads one log, line by line."""

    def __init__(self, file: str, options: Options) -> None:
        self.builder = Builder(stem(file), file, options)
        self.addresses = options.addresses
        self.heads: dict[bytes, Cpu] = {}
        """The CPUs by what stands before the pc."""
        self.cpus: dict[tuple[bytes, bytes], Cpu] = {}
        """The CPUs by object and hardware thread."""
        self.outside: tuple[int, int] | None = None
        """The lowest and the highest address that was not selected."""
        self.other = ""
        """Which other debug flag the log seems to come from."""
        self.bare_atomic = 0
        """The line of the first atomic, -1 once one is printed with its result."""

    def read(self, stream: BinaryIO) -> None:
        """All lines. Most set a register and do nothing else, so that is done here."""
        heads, roles = self.heads, _ROLES
        for number, line in enumerate(stream, 1):
            tick, _, rest = line.partition(b": ")
            fields = rest.split(b" : ")
            cpu = heads.get(fields[0]) or self._cpu(line, fields)
            if cpu is None:
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
                        cpu.registers.results[operands.partition(b",")[0]] = result
                    cpu.registers.dependencies.follow(text, sets)
            cpu.pc = pc

    def finish(self) -> History:
        for cpu in self.cpus.values():
            cpu.settle()
        self._refuse_unfinished()
        if not len(self.builder):
            raise self.builder.error(self._nothing())
        dropped = sum(cpu.registers.dependencies.dropped for cpu in self.cpus.values())
        if dropped:
            self.builder.note(f"{dropped} accesses may depend on more than is known, by registers that loads of other "
                              "addresses, system calls or unknown instructions set: such dependencies are left out")
        try:
            return self.builder.build()
        except InputError as error:
            if self.addresses:
                raise
            raise self.builder.error(f"{error.message}. The log holds every access of the program: select "
                                     "the shared locations with --addresses LO:HI", error.line) from None

    def _cpu(self, line: bytes, fields: list[bytes]) -> Cpu | None:
        """The CPU of a line whose head is new, None where it is no Exec line.

        Where the log has no thread numbers, the head holds the pc: it is split off into `fields`.
        """
        head = _HEAD.fullmatch(fields[0])
        if head is not None and head[3] is not None:
            fields[:1] = [b"", head[3]]
        if head is None or len(fields) < 3 or not fields[1].startswith((b"0x", b"@")):
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

    def _step(self, cpu: Cpu, role: _riscv.Role, line: Line) -> None:
        """What an instruction does beyond setting a register."""
        does, size = self._x86_role(cpu, line) if role is _X86 else role
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
            cpu.registers.dependencies.follow(line.text, True)
        elif does == "rest":  # it may set the register the first half was printed with, or another
            cpu.registers.results.pop(line.register, None)

    def _x86_role(self, cpu: Cpu, line: Line) -> _riscv.Role:
        accesses = b" A=" in line.result
        cpu.whole = cpu.whole or not accesses
        instruction = line.text.strip()
        if not accesses and (orders := _x86.bare_fence(instruction, line.operation)):
            return "fence", orders
        if not accesses and not line.operation.startswith(_x86.WITHOUT_ADDRESS):
            return "nothing", 0
        role = _x86.role(instruction, line.operation) if instruction.isupper() else None
        return role or ("unknown" if accesses else "nothing", 0)

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
        riscv, dependencies = not line.text.startswith(b" "), cpu.registers.dependencies
        came = _riscv.UNKNOWN_ONLY
        if self._selects(address):
            before = cpu.count
            depends = dependencies.of_access(does, line.text) if riscv and b" D=" in result else None
            marks = _marks(cpu, does, line)
            self._record(cpu, does, Access(address, size, line.number, self._tick(line), marks, depends), line)
            came = frozenset({cpu.count}) if cpu.count > before else _riscv.NOWHERE
        if does == "unknown":
            cpu.registers.results.pop(line.register, None)
        elif does != "write" and b" D=" in result:
            cpu.registers.results[line.register] = result
        if riscv and does != "write":
            dependencies.come(line.register, came)

    def _selects(self, address: int) -> bool:
        for low, high in self.addresses.ranges:
            if low <= address < high:
                return True
        if not self.addresses:
            return True
        low, high = self.outside or (address, address)
        self.outside = min(low, address), max(high, address)
        return False

    def _record(self, cpu: Cpu, does: str, access: Access, line: Line) -> None:
        """A selected access becomes an operation, if it took place and has a value."""
        if does == "unknown":
            raise self.builder.error(f"{line} is no RISC-V or x86 access this reader knows", line.number)
        if does == "unsized":
            raise self.builder.error(f"{line} does not tell how wide the access is, or its whole value; "
                                     "select addresses that are accessed with general registers", line.number)
        value = self._data(line)
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
                (cpu.write if does == "write" else cpu.release)(access, masked)
        elif does == "conditional" and value != 0:
            cpu.fail()
        else:
            self._atomic(cpu, access, masked, line)

    def _atomic(self, cpu: Cpu, access: Access, old: int, line: Line) -> None:
        """An AMO or a successful store-conditional: what it writes is in its source register."""
        source = cpu.registers.value(line.source)
        if source is None:
            raise self.builder.error(
                f"what {line} on {cpu.name} writes is in register {line.source.decode(errors='replace')}, whose "
                "value the log does not show before this line: the log must start earlier, or include the "
                "instruction which sets the register", line.number)
        source &= access.mask
        if line.text.startswith(b"sc"):
            cpu.conditional(access, source)
        else:
            cpu.rmw(access, old, _riscv.amo_result(line.text, access.size, old, source))

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
        if self.outside:
            low, high = self.outside
            return (f"no access falls inside --addresses {self.addresses}; this log touches {low:#x} to "
                    f"{high:#x}")
        if self.cpus:
            return ("this Exec log shows no access with its address and value (A= and D=); gem5 prints them "
                    "with --debug-flags=Exec (ExecResult, ExecEffAddr and, for x86, ExecMicro)")
        kind = f"it looks like a {self.other} log, which carries no data values that can be used" if self.other else (
            "its lines are from other debug flags, if it is from gem5 at all")
        return f"this log has no Exec lines: {kind}. Run gem5 with --debug-flags=Exec"


def _marks(cpu: Cpu, does: str, line: Line) -> int:
    """The marks of an access: an atomic's acquire and release stand in the line before, or here in old versions."""
    if does not in _riscv.ATOMIC or line.text.startswith(b" "):
        return 0
    ordering, cpu.ordering = cpu.ordering, 0
    return ordering | _riscv.marks(line.text.partition(b" ")[0]) | (0 if does == "rmw" else EXCLUSIVE)
