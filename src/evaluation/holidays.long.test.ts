import { expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { createAlert } from '../alerts/alert-store.ts'
import { createCalendar, holidayLookup } from '../calendars/store.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { createDomain } from '../domains/store.ts'
import { updateOrg } from '../org/store.ts'
import { TICK_MS } from '../signals/series.ts'
import { CountsFixture } from '../signals/series-monitor.fixture.ts'
import { evaluateSeries } from './evaluate-series.ts'

/** A Wednesday in the time zone of the organization, which is two hours ahead of UTC. */
const DAY = '2026-06-10'
const FROM = Date.UTC(2026, 5, 9, 22)

const icsOf = (day: string) =>
  ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', `DTSTART;VALUE=DATE:${day.replaceAll('-', '')}`, 'SUMMARY:Closed', 'END:VEVENT']
    .concat('END:VCALENDAR')
    .join('\r\n')

interface Fall {
  from: number
  to: number
  factor: number
}

const onDay = (factor: number): Fall[] => [{ from: FROM, to: FROM + DAY_MS, factor }]

/** Returns the days, counted from the holiday, on which issues were opened. */
async function opened(faults: Fall[], calendarDay: string | null): Promise<number[]> {
  const db = memoryDb()
  const clock = testClock(FROM - 6 * HOUR_MS)
  const { orgId } = cast(db, clock)
  updateOrg(db, orgId, { timezone: 'Europe/Berlin' })
  const domainId = createDomain(db, clock, orgId, { name: 'Shop' })
  if (calendarDay) await createCalendar(db, clock, orgId, { name: 'Company', ics: icsOf(calendarDay) })
  const span = { from: FROM - 70 * DAY_MS, to: FROM + 3 * DAY_MS, perHour: 200 }
  await using history = await CountsFixture.with({ ...span, orgId, domainId, faults })
  createAlert(db, clock, orgId, {
    name: 'Views',
    alertType: 'volume_anomaly',
    volume: { vendor: 'Shop', event: 'view', sensitivity: 5 },
    period: '1h',
    channels: [{ type: 'email', target: 'ann@example.com' }],
  })
  const days: number[] = []
  const parts = {
    db,
    clock,
    gapsOf: () => [],
    visible: { watermark: () => clock.now() },
    seriesMonitor: history.seriesMonitor({ holidaysOf: holidayLookup(db) }),
    suspected: async () => false,
    enqueue(order: { kind: string; transition?: string }) {
      if (order.transition === 'opened') days.push(Math.floor((clock.now() - FROM) / DAY_MS))
    },
  }
  while (clock.now() < FROM + 2 * DAY_MS) {
    clock.set((Math.floor(clock.now() / TICK_MS) + 1) * TICK_MS + 1000)
    await evaluateSeries(parts)
  }
  return days
}

test.each<[string, Fall[], string | null, number[]]>([
  ['a holiday that halves the traffic opens nothing', onDay(0.5), DAY, []],
  ['the same fall on a day that is no holiday opens an issue', onDay(0.5), '2026-06-17', [0]],
  ['the same fall without calendars opens an issue', onDay(0.5), null, [0]],
  ['a fall to zero on a holiday opens an issue', onDay(0), DAY, [0]],
  ['the day after a holiday is an ordinary day', [{ from: FROM, to: FROM + 2 * DAY_MS, factor: 0.5 }], DAY, [1]],
])('%s', async (_name, faults, calendarDay, expected) => {
  expect(await opened(faults, calendarDay)).toEqual(expected)
})
