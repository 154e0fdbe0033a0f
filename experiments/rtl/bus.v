// One atomic bus: a transaction has it from arbitration to its data phase. In the address phase the other caches snoop,
// a Modified copy is flushed to memory and handed over; after a random latency the owner takes the data.
`include "faults.vh"
`include "codes.vh"
module bus #(parameter CORES = 2, parameter LINE = 2, parameter FAULT = 0) (
    input clk, input reset, input [3:0] random,
    input [CORES-1:0] requests, input [CORES*2-1:0] commands, input [CORES*LINE-1:0] lines,
    input [CORES*32-1:0] writes, input [CORES-1:0] supplies, input [CORES*32-1:0] supplied,
    output [CORES-1:0] snooped, output [CORES-1:0] accepted, output [CORES-1:0] filled,
    output reg [1:0] command, output reg [LINE-1:0] line, output reg [31:0] data
);
    localparam IDLE = 0, ADDRESS = 1, LATENCY = 2, DATA = 3;
    reg [1:0] phase;
    reg [1:0] owner;
    reg [1:0] latency;
    reg [31:0] write;

    wire [CORES-1:0] owners = 1 << owner;
    assign snooped = phase == ADDRESS ? ~owners : 0;
    assign accepted = phase == ADDRESS ? owners : 0;
    assign filled = phase == DATA ? owners : 0;

    // The data of the cache that supplies; there is one at most in a sound design.
    reg [31:0] flushed;
    integer s;
    always @* begin
        flushed = 0;
        for (s = 0; s < CORES; s = s + 1) if (supplies[s]) flushed = supplied[s*32 +: 32];
    end
    wire flush = |supplies;
    wire flush_kept = flush && !(command == `BUS_RD && FAULT == `UNFLUSHED_DOWNGRADE);

    wire [31:0] stored;
    memory #(.LINE(LINE)) memory (
        .clk(clk), .reset(reset), .write(phase == ADDRESS && (command == `BUS_WB || flush_kept)), .line(line),
        .data(flush ? flushed : write), .stored(stored));

    integer k, candidate;
    always @(posedge clk) begin
        case (phase)
            IDLE: for (k = 0; k < CORES; k = k + 1) begin  // the last one in a random rotation wins
                candidate = (random[1:0] + k) % CORES;
                if (requests[candidate]) begin
                    owner <= candidate;
                    command <= commands[candidate*2 +: 2];
                    line <= lines[candidate*LINE +: LINE];
                    write <= writes[candidate*32 +: 32];
                    phase <= ADDRESS;
                end
            end
            ADDRESS: begin
                data <= flush && FAULT != `STALE_SUPPLY ? flushed : stored;
                latency <= random[3:2];
                phase <= LATENCY;
            end
            LATENCY: if (latency == 0) phase <= DATA; else latency <= latency - 1;
            DATA: phase <= IDLE;
        endcase
        if (reset) phase <= IDLE;
    end
endmodule
