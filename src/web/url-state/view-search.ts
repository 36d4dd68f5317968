import type { ParamType, ParamTypes, ValuesOf } from './param-types.ts'

/** Returns the search of a saved view: the values that differ from their fallback, as in the URL but without `?`. */
export function searchOf<F extends ParamTypes>(fields: F, values: ValuesOf<F>): string {
  const search = new URLSearchParams()
  for (const [name, field] of Object.entries(fields)) {
    const { write, fallback } = field as ParamType<unknown>
    const text = write(values[name])
    if (text !== write(fallback)) search.set(name, text)
  }
  return search.toString()
}

/** Returns the values of all fields in the search of a saved view. Invalid values are replaced by the fallback. */
export function searchFrom<F extends ParamTypes>(fields: F, search: string): ValuesOf<F> {
  const given = new URLSearchParams(search)
  const values = Object.entries(fields).map(([name, field]) => {
    const { parse, write, fallback } = field as ParamType<unknown>
    const text = given.get(name)
    // An empty list differs from a fallback with values, and `text` can't be empty.
    const value = text === null ? fallback : (parse(text) ?? (text === '' ? emptyLike(fallback) : fallback))
    return [name, value === undefined ? fallback : value, write]
  })
  return Object.fromEntries(values) as ValuesOf<F>
}

const emptyLike = (fallback: unknown) => (Array.isArray(fallback) ? [] : fallback)
