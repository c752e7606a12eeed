/** Keeps what a canvas draws as text, with its place and colour, in `drawn`; for `addInitScript`. */
export const recordDrawnTexts = `
  globalThis.drawn = []
  const draw = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    globalThis.drawn.push(text + ' at ' + Math.round(rest[0]) + ' in ' + this.fillStyle)
    draw.call(this, text, ...rest)
  }
`
