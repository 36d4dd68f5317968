import type { Base, Room } from '../base.ts'
import type { Holidays } from './holidays.ts'
import { calendarRoutes } from './routes.ts'
import { holidayLookup, refreshCalendars } from './store.ts'

export interface CalendarsRoom extends Room {
  /** Returns the holidays of an organization; null when it has no calendars. */
  holidaysOf(orgId: string): Holidays | null
}

export function openCalendars({ db, clock }: Base): CalendarsRoom {
  return {
    holidaysOf: holidayLookup(db),
    routes: calendarRoutes({ db, clock }),
    jobs: [{ name: 'refresh calendars', pattern: '*/10 * * * * *', run: () => refreshCalendars(db, clock) }],
  }
}
