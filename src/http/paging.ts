import { AppError } from '../core/error.ts'
import { Int, Type } from '../core/schema.ts'

/** Query fields of every list. */
export const pagingFields = {
  limit: Type.Optional(Int({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(Type.String({ maxLength: 500 })),
}

export const DEFAULT_LIMIT = 50

/** A place in a list, opaque to callers: the sort values of the last item seen. */
export function encodeCursor(place: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

/** The place a cursor stands for; null for none. Fails with `invalid` when it is not one of this list's. */
export function decodeCursor(cursor: string | undefined, length: number): (string | number | null)[] | null {
  if (cursor === undefined) return null
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const isPart = (part: unknown) => part === null || typeof part === 'string' || Number.isFinite(part)
    if (Array.isArray(place) && place.length === length && place.every(isPart)) return place
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new AppError('invalid', 'cursor: is not a cursor of this list')
}

/** Cuts a page from `limit + 1` rows: what goes out, and the cursor of what follows. */
export function page<T>(rows: T[], limit: number, placeOf: (row: T) => (string | number | null)[]) {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(placeOf(last)) : null }
}
