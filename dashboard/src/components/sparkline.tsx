const size = { width: 120, height: 26 } as const

/** The course of a figure over time, beside the figure itself. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  const max = Math.max(1, ...values)
  const step = size.width / Math.max(1, values.length - 1)
  const points = values
    .map((value, index) => `${index * step},${size.height - 1 - (value / max) * (size.height - 2)}`)
    .join(' ')
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${size.width} ${size.height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points} />
    </svg>
  )
}
