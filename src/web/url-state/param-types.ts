/** Type of a URL search param: parses and serializes its value. */
export interface ParamType<T> {
  /** Returns undefined for an invalid string. */
  parse(text: string): T | undefined
  write(value: T): string
  /** Default value; never written to the URL. */
  fallback: T
}

/** Search params of a page by name. The names are the same as in the API. */
export type ParamTypes = Readonly<Record<string, ParamType<never> | ParamType<unknown>>>
/** Values in the URL, which contains only those that differ from the fallback. */
export type SearchOf<F> = { [Name in keyof F]?: F[Name] extends ParamType<infer T> ? T : never }
/** All values: from the URL, or the fallback. */
export type ValuesOf<F> = { [Name in keyof F]: F[Name] extends ParamType<infer T> ? T : never }

/** A non-empty string. */
export const text: ParamType<string> = { parse: (given) => given || undefined, write: (value) => value, fallback: '' }

/** Milliseconds since the epoch; null for none. */
export const timestamp: ParamType<number | null> = {
  parse: (given) => (/^\d{1,15}$/.test(given) ? Number(given) : undefined),
  write: String,
  fallback: null,
}

/** A number, possibly with decimals; null for none. */
export const number: ParamType<number | null> = {
  parse: (given) => (/^-?\d{1,15}(\.\d{1,15})?$/.test(given) ? Number(given) : undefined),
  write: String,
  fallback: null,
}

/** One of several values. */
export function choice<const T extends string>(values: readonly T[], fallback: NoInfer<T>): ParamType<T> {
  return { parse: (given) => values.find((value) => value === given), write: (value) => value, fallback }
}

/** The `sort` of a list with these fields: a field, or a field after `-`. */
export function sortParam<const T extends string>(fields: readonly T[], fallback: NoInfer<T | `-${T}`>) {
  return choice<T | `-${T}`>(
    fields.flatMap((field): (T | `-${T}`)[] => [field, `-${field}`]),
    fallback,
  )
}

/** One of several values, or null. */
export function optional<const T extends string>(values: readonly T[]): ParamType<T | null> {
  return { parse: (given) => values.find((value) => value === given), write: (value) => value ?? '', fallback: null }
}

/** A comma-separated subset of `values`, written in the order of `values`. */
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

/** Comma-separated ids or names. */
export const nameList: ParamType<readonly string[]> = {
  parse: (given) => given.split(',').filter(Boolean),
  write: (chosen) => chosen.join(','),
  fallback: [],
}
