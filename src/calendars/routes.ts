import type { Clock } from '../core/clock.ts'
import { Closed, Type } from '../core/schema.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import {
  CalendarDetailSchema,
  CalendarInputSchema,
  CalendarSchema,
  CountrySchema,
  MAX_CALENDARS,
  MAX_ICS_LENGTH,
} from './calendar.ts'
import { MAX_DAYS_PER_YEAR } from './calendar-days.ts'
import { listCountries } from './country-holidays.ts'
import { createCalendar, deleteCalendar, findCalendar, listCalendars, replaceCalendar } from './store.ts'

const tag = 'Calendars'
const CalendarListSchema = Closed(
  { calendars: Type.Array(CalendarSchema), nextCursor: NextCursorSchema },
  { $id: 'CalendarList' },
)
const CountryListSchema = Closed({ countries: Type.Array(CountrySchema) }, { $id: 'CountryList' })

/** Routes for calendars of holidays, under `/v1/calendars`. */
export function calendarRoutes({ db, clock }: { db: Db; clock: Clock }): Route[] {
  return [
    route({
      id: 'listCalendars',
      method: 'GET',
      path: '/v1/calendars',
      access: 'read',
      tag,
      summary: 'List calendars of holidays with their next days, oldest first',
      tool: true,
      query: Closed(pagingFields),
      answer: CalendarListSchema,
      exports: 'calendars',
      handle({ principal: { orgId }, query }) {
        const { items, nextCursor } = listCalendars(db, clock, orgId, query)
        return { calendars: items, nextCursor }
      },
    }),
    route({
      id: 'createCalendar',
      method: 'POST',
      path: '/v1/calendars',
      access: 'edit',
      asynchronous: true,
      tag,
      summary: "Add a country's holidays or an uploaded calendar",
      description:
        'On a holiday, anomaly alerts and signals compare counts with earlier holidays instead of with the ' +
        "same weekday. Days are days in the organization's time zone. An event with a time covers the days of which it " +
        `covers at least half, or its longest day. At most ${MAX_CALENDARS} calendars per organization and ` +
        `${MAX_DAYS_PER_YEAR} days per year and calendar.`,
      refusals: ['conflict', 'unavailable'],
      maxBodyBytes: 2 * MAX_ICS_LENGTH,
      body: CalendarInputSchema,
      status: 201,
      answer: CalendarSchema,
      handle: ({ principal: { orgId }, body }) => createCalendar(db, clock, orgId, body),
    }),
    route({
      id: 'getCalendar',
      method: 'GET',
      path: '/v1/calendars/{id}',
      access: 'read',
      tag,
      summary: 'Get a calendar with its source and its next days',
      params: ById,
      answer: CalendarDetailSchema,
      handle: ({ principal: { orgId }, params: { id } }) => findCalendar(db, clock, { orgId, id }),
    }),
    route({
      id: 'replaceCalendar',
      method: 'PUT',
      path: '/v1/calendars/{id}',
      access: 'edit',
      asynchronous: true,
      tag,
      summary: 'Replace the name and the days of a calendar',
      refusals: ['unavailable'],
      params: ById,
      maxBodyBytes: 2 * MAX_ICS_LENGTH,
      body: CalendarInputSchema,
      answer: CalendarDetailSchema,
      handle: ({ principal: { orgId }, params: { id }, body }) => replaceCalendar(db, clock, { orgId, id }, body),
    }),
    route({
      id: 'deleteCalendar',
      method: 'DELETE',
      path: '/v1/calendars/{id}',
      access: 'edit',
      tag,
      summary: 'Delete a calendar; its days become ordinary days',
      tool: true,
      params: ById,
      answer: OkSchema,
      handle({ principal: { orgId }, params: { id } }) {
        deleteCalendar(db, { orgId, id })
        return OK
      },
    }),
    route({
      id: 'listCountries',
      method: 'GET',
      path: '/v1/calendars/countries',
      access: 'read',
      tag,
      summary: 'List the countries and regions whose holidays are known',
      refusals: ['unavailable'],
      answer: CountryListSchema,
      handle: async () => ({ countries: await listCountries() }),
    }),
  ]
}
