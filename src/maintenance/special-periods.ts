import { holidaysWithin } from '../calendars/store.ts'
import type { Instant } from '../core/clock.ts'
import { Closed, InstantSchema, OneOf, type Static, Type } from '../core/schema.ts'
import type { Db } from '../store/database.ts'
import { type ChartedScope, maintenanceWithin } from './store.ts'

/** Maximum number of holidays, and of occurrences of maintenance windows, in a response. */
const MAX_SPECIAL = 100

const SpecialPeriodSchema = Closed({
  kind: OneOf(['holiday', 'maintenance'] as const),
  name: Type.String(),
  from: InstantSchema,
  to: InstantSchema,
})

/** Field of the answer of a series. */
export const specialFields = {
  specialPeriods: Type.Optional(
    Type.Array(SpecialPeriodSchema, {
      maxItems: 2 * MAX_SPECIAL,
      description: `Holidays and maintenance windows of the counted domains, oldest first; at most ${MAX_SPECIAL} of each kind`,
    }),
  ),
}

/** Returns the holidays and maintenance windows within a series, oldest first, then by name. */
export async function specialPeriods(
  db: Db,
  scope: ChartedScope,
  { from, to }: { from: Instant; to: Instant },
): Promise<Static<typeof SpecialPeriodSchema>[]> {
  const window = { from, to, limit: MAX_SPECIAL }
  return [
    ...holidaysWithin(db, scope.orgId, window).map((span) => ({ kind: 'holiday' as const, ...span })),
    ...(await maintenanceWithin(db, scope, window)).map((span) => ({ kind: 'maintenance' as const, ...span })),
  ].sort((a, b) => a.from - b.from || (a.name < b.name ? -1 : 1))
}
