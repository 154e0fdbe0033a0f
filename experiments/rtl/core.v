// A core: runs its program in order, with random pauses. An operation takes place where `complete` is high.
//
// With BUFFERS, stores go to a store buffer that drains into the cache whenever the core leaves the cache alone.
// Store number n of core c writes c·4096 + n + 1: every value is written once.
`include "faults.vh"
`include "codes.vh"
module core #(parameter ID = 0, parameter OPS = 16, parameter ADDRESS = 3, parameter BUFFERS = 0, parameter FAULT = 0) (
    input clk, input reset, input [5:0] random, input [3:0] pace,
    input [OPS*8-1:0] instructions, output done,
    output request, output [1:0] op, output [ADDRESS-1:0] address, output [15:0] value,
    input ack, input [15:0] result
);
    reg [15:0] pc;
    reg [3:0] pause;
    wire [7:0] instruction = instructions[pc*8 +: 8];
    wire [1:0] kind = instruction[7:6];
    wire [ADDRESS-1:0] target = instruction[ADDRESS-1:0];
    wire [15:0] fresh = ID * 4096 + pc + 1;

    // The store that left the buffer, until the cache takes it. A load of its address waits for the cache: it
    // needs no forwarding.
    reg draining;
    reg [ADDRESS-1:0] drain_address;
    reg [15:0] drain_value;

    wire [ADDRESS-1:0] oldest_address;
    wire [15:0] oldest_value, newest;
    wire empty, full, found, push, pop;
    buffer #(.ADDRESS(ADDRESS), .FAULT(FAULT)) buffer (
        .clk(clk), .reset(reset), .push(push), .address(target), .value(fresh), .pop(pop),
        .oldest_address(oldest_address), .oldest_value(oldest_value), .empty(empty), .full(full),
        .found(found), .newest(newest));

    wire finished = pc == OPS;
    wire ready = !finished && pause == 0;
    wire drained = empty && !draining;
    wire buffered = BUFFERS && kind == `WRITE;
    wire split = FAULT == `SPLIT_RMW && kind == `RMW;
    wire allowed = kind != `RMW || drained || FAULT == `OVERTAKING_RMW;
    wire forwarded = ready && kind == `READ && found;
    wire fenced = ready && kind == `FENCE && (drained || FAULT == `IGNORED_FENCE);
    wire accesses = ready && kind != `FENCE && !buffered && !forwarded && allowed && !draining;
    wire accessed = accesses && ack;
    wire complete = forwarded || fenced || accessed || (ready && buffered && !full);
    wire [15:0] returned = forwarded ? newest : result;  // by a load or an rmw
    assign push = (ready && buffered && !full) || (accessed && split);
    assign pop = !empty && !draining && !accesses && !push && random[5:4] == 0;
    assign done = finished && drained;

    assign request = draining || accesses;
    assign op = draining ? `WRITE : split ? `READ : kind;
    assign address = draining ? drain_address : target;
    assign value = draining ? drain_value : fresh;

    always @(posedge clk) begin
        if (pause != 0) pause <= pause - 1;
        if (complete) begin
            pc <= pc + 1;
            pause <= random[3:0] & pace;
        end
        if (pop) begin
            drain_address <= oldest_address;
            drain_value <= oldest_value;
        end
        draining <= pop || (draining && !ack);
        if (reset) begin
            pc <= 0;
            pause <= random[3:0] & pace;
            draining <= 0;
        end
    end
endmodule
