export type Parameters = Readonly<Record<string, string>>

/** A parameter in both; null where it was not sent. */
export interface DiffRow {
  key: string
  left: string | null
  right: string | null
  differs: boolean
}

/** What is missing on one side says most; without another side everything does. */
const rankOf = ({ left, right, differs }: DiffRow) => (!differs ? 2 : left === null || right === null ? 0 : 1)

/**
 * All parameters of both: those that only one has, then those that differ, then the equal ones; in each group those of
 * `first`, then the others, in the order of their names.
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
