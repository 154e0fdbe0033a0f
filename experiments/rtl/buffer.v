// A store buffer: first in, first out, with the newest store to an address in view of the core's loads.
`include "faults.vh"
module buffer #(parameter ADDRESS = 3, parameter FAULT = 0) (
    input clk, input reset,
    input push, input [ADDRESS-1:0] address, input [15:0] value,
    input pop,  // never in the cycle of a push
    output [ADDRESS-1:0] oldest_address, output [15:0] oldest_value,
    output empty, output full,
    output reg found, output reg [15:0] newest  // the store that a load of `address` sees
);
    localparam DEPTH = 4;
    reg [ADDRESS-1:0] addresses [0:DEPTH-1];
    reg [15:0] values [0:DEPTH-1];
    reg [1:0] head;
    reg [2:0] count;

    wire [1:0] tail = head + count[1:0];
    wire [1:0] out = FAULT == `LIFO_BUFFER ? tail - 2'd1 : head;
    assign oldest_address = addresses[out];
    assign oldest_value = values[out];
    assign empty = count == 0;
    assign full = count == (FAULT == `BUFFER_OVERFLOW ? DEPTH + 1 : DEPTH);

    wire [ADDRESS-1:0] compared = FAULT == `FORWARDED_ALIAS ? {ADDRESS{1'b1}} >> 1 : {ADDRESS{1'b1}};
    reg [1:0] slot;
    integer i;
    always @* begin
        found = 0;
        newest = 0;
        for (i = 0; i < DEPTH; i = i + 1) begin
            slot = head + i;
            if (i < count && ((addresses[slot] ^ address) & compared) == 0
                && FAULT != `NO_FORWARDING && !(FAULT == `OLDEST_FORWARDED && found)) begin
                found = 1;
                newest = values[slot];
            end
        end
    end

    always @(posedge clk) begin
        if (push) begin
            addresses[tail] <= address;
            values[tail] <= value;
            count <= count + 1;
        end
        if (pop) begin
            count <= count - 1;
            if (FAULT != `LIFO_BUFFER) head <= head + 1;
        end
        if (reset) begin
            head <= 0;
            count <= 0;
        end
    end
endmodule
