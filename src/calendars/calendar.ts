import { Closed, InstantSchema, Nullable, type Static, Text, Type } from '../core/schema.ts'
import { managedByField } from '../managed/managed-item.ts'

/** Maximum number of calendars per organization. */
export const MAX_CALENDARS = 20
/** Maximum size of an uploaded calendar in characters. */
export const MAX_ICS_LENGTH = 1024 * 1024
/** Number of upcoming days in a response. */
export const NEXT_DAYS = 10

const EXAMPLE = { name: 'Bavaria', country: 'DE-BY' }

const HolidaySchema = Closed({
  day: Type.String({ description: "Date as YYYY-MM-DD, in the organization's time zone" }),
  name: Type.String(),
})

export const CalendarSchema = Closed(
  {
    id: Type.String(),
    name: Type.String(),
    country: Nullable(Type.String({ description: 'Country or region; null for an uploaded calendar' })),
    createdAt: InstantSchema,
    nextDays: Type.Array(HolidaySchema, { description: `The next ${NEXT_DAYS} holidays, including today` }),
    managedBy: managedByField(),
  },
  {
    $id: 'Calendar',
    examples: [
      {
        id: 'cal_01ke7jhv00h3a6d9g2j5m8q1tw',
        ...EXAMPLE,
        createdAt: 1_767_614_400_000,
        nextDays: [{ day: '2026-04-03', name: 'Good Friday' }],
      },
    ],
  },
)
export type Calendar = Static<typeof CalendarSchema>

/** A calendar with everything that a `PUT` replaces. */
export const CalendarDetailSchema = Closed(
  {
    ...CalendarSchema.properties,
    ics: Nullable(Type.String({ description: 'Content of the uploaded iCalendar file; null for a country' })),
  },
  { $id: 'CalendarDetail', examples: CalendarSchema.examples.map((example: object) => ({ ...example, ics: null })) },
)
export type CalendarDetail = Static<typeof CalendarDetailSchema>

/** A calendar is either that of a country or an uploaded file. */
export const CalendarInputSchema = Closed(
  {
    name: Text(1, 100),
    country: Type.Optional(
      Text(2, 20, {
        description: 'ISO 3166 code of a country, such as DE, or of a region, such as DE-BY. Excludes `ics`',
        examples: ['DE-BY'],
      }),
    ),
    ics: Type.Optional(
      Type.String({
        maxLength: MAX_ICS_LENGTH,
        description:
          'Content of an iCalendar file (RFC 5545), at most 1 MB. Every event is a holiday. Excludes `country`',
      }),
    ),
  },
  { $id: 'CalendarInput', examples: [EXAMPLE] },
)
export type CalendarInput = Static<typeof CalendarInputSchema>

export const CountrySchema = Closed(
  { code: Type.String(), name: Type.String() },
  { $id: 'Country', examples: [{ code: 'DE-BY', name: 'Germany: Bayern' }] },
)
