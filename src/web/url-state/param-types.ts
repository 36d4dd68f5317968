/** A value of a page's address: how it is read from `name=text`, and written back. */
export interface ParamType<T> {
  /** Returns undefined for a text that is no value of this field. */
  parse(text: string): T | undefined
  write(value: T): string
  /** What holds when the address does not say; it is never written. */
  fallback: T
}

/** The fields of a page by their names in the address, which are those of the API. */
export type ParamTypes = Readonly<Record<string, ParamType<never> | ParamType<unknown>>>
/** What an address says: only what differs from the fallback. */
export type SearchOf<F> = { [Name in keyof F]?: F[Name] extends ParamType<infer T> ? T : never }
/** What holds: the address, and the fallback for the rest. */
export type ValuesOf<F> = { [Name in keyof F]: F[Name] extends ParamType<infer T> ? T : never }

/** Any text but an empty one. */
export const text: ParamType<string> = { parse: (given) => given || undefined, write: (value) => value, fallback: '' }

/** A whole number from 0, as milliseconds since the epoch are; null for none. */
export const timestamp: ParamType<number | null> = {
  parse: (given) => (/^\d{1,15}$/.test(given) ? Number(given) : undefined),
  write: String,
  fallback: null,
}

/** One of a few words. */
export function choice<const T extends string>(values: readonly T[], fallback: NoInfer<T>): ParamType<T> {
  return { parse: (given) => values.find((value) => value === given), write: (value) => value, fallback }
}

/** One of a few words, or none of them. */
export function optional<const T extends string>(values: readonly T[]): ParamType<T | null> {
  return { parse: (given) => values.find((value) => value === given), write: (value) => value ?? '', fallback: null }
}

/** Several of a few words, separated by commas; in the address always in the order of `values`. */
export function multiple<const T extends string>(
  values: readonly T[],
  fallback: readonly NoInfer<T>[],
): ParamType<readonly T[]> {
  return {
    parse(given) {
      const named = given.split(',')
      if (named.some((name) => !values.some((value) => value === name))) return undefined
      return values.filter((value) => named.includes(value))
    },
    write: (chosen) => values.filter((value) => chosen.includes(value)).join(','),
    fallback,
  }
}

/** Several identifiers or names, separated by commas. */
export const nameList: ParamType<readonly string[]> = {
  parse: (given) => given.split(',').filter(Boolean),
  write: (chosen) => chosen.join(','),
  fallback: [],
}
