export type Parameters = Readonly<Record<string, string>>

/** A parameter on both sides; null on the side where it was not sent. */
export interface DiffRow {
  key: string
  left: string | null
  right: string | null
  differs: boolean
}

/** Sort order: missing on one side, different, equal. */
const rankOf = ({ left, right, differs }: DiffRow) => (!differs ? 2 : left === null || right === null ? 0 : 1)

/**
 * Returns the parameters from both sides: first parameters that are missing on one side, then different parameters,
 * then equal ones. Within each group, the parameters in `first` come first; the rest are sorted by name.
 */
export function diffOf(left: Parameters, right: Parameters | null, first: readonly string[] = []): DiffRow[] {
  const keys = new Set([...Object.keys(left), ...Object.keys(right ?? {})])
  const valueIn = (of: Parameters | null, key: string) => (of && Object.hasOwn(of, key) ? (of[key] ?? null) : null)
  const rows = [...keys].sort().map((key) => {
    const values = { left: valueIn(left, key), right: valueIn(right, key) }
    return { key, ...values, differs: values.left !== values.right }
  })
  const ordered = [...rows.filter(({ key }) => first.includes(key)), ...rows.filter(({ key }) => !first.includes(key))]
  return [0, 1, 2].flatMap((rank) => ordered.filter((row) => rankOf(row) === rank))
}
