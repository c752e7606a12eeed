export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M7 22h18M10 22v-6M16 22V9M22 22v-9" />
    </svg>
  )
}
