// The memory behind the bus, two words per line, zero after reset.
module memory #(parameter LINE = 2) (
    input clk, input reset, input write, input [LINE-1:0] line, input [31:0] data, output [31:0] stored
);
    reg [31:0] lines [0:(1<<LINE)-1];
    assign stored = lines[line];
    integer i;
    always @(posedge clk) begin
        if (write) lines[line] <= data;
        if (reset) for (i = 0; i < 1 << LINE; i = i + 1) lines[i] <= 0;
    end
endmodule
