import { AppError } from '../core/error.ts'
import { Int, Type } from '../core/schema.ts'

/** Query parameters that every list accepts. */
export const pagingFields = {
  limit: Type.Optional(Int({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(Type.String({ maxLength: 500 })),
}

export const DEFAULT_LIMIT = 50

/** Returns an opaque cursor that contains the sort values of the last item of a page. */
export function encodeCursor(place: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

/**
 * Returns the sort values in a cursor; null without a cursor. Throws `invalid` for a cursor that does not belong to
 * this list.
 */
export function decodeCursor(cursor: string | undefined, length: number): (string | number | null)[] | null {
  if (cursor === undefined) return null
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const isPart = (part: unknown) => part === null || typeof part === 'string' || Number.isFinite(part)
    if (Array.isArray(place) && place.length === length && place.every(isPart)) return place
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new AppError('invalid', 'cursor: is not valid for this list')
}

/** Creates a page from up to `limit + 1` rows. The page has at most `limit` items, and the cursor of the next page. */
export function page<T>(rows: T[], limit: number, placeOf: (row: T) => (string | number | null)[]) {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(placeOf(last)) : null }
}
