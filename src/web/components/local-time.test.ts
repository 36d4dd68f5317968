import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { fromLocalInput, toLocalInput, utcHourChoices } from './local-time.ts'

const HOUR_MS = 3_600_000
const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe')

test('a local time is the instant at which clocks show it', () => {
  const instants = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) })
  fc.assert(
    fc.property(instants, zones, (instant, zone) => {
      const at = Math.floor(instant / 60_000) * 60_000
      const text = toLocalInput(at, zone)
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/)
      const found = fromLocalInput(text, zone)
      expect(toLocalInput(found, zone)).toBe(text)
      // Clocks show some times twice.
      expect(Math.abs(found - at)).toBeLessThanOrEqual(HOUR_MS)
    }),
  )
})

test.each([
  ['2026-03-28T22:00', 'Europe/Berlin', Date.UTC(2026, 2, 28, 21)],
  ['2026-03-29T22:00', 'Europe/Berlin', Date.UTC(2026, 2, 29, 20)],
  ['2026-06-01T05:30', 'Asia/Kolkata', Date.UTC(2026, 5, 1)],
])('%s in %s is %i', (text, zone, at) => expect(fromLocalInput(text, zone)).toBe(at))

test.each<[timeZone: string, first: string, second: string, hour: string]>([
  ['UTC', '0 00:00 UTC', '1 01:00 UTC', '7 07:00 UTC'],
  ['Europe/Berlin', '23 00:00 CET', '0 01:00 CET', '7 08:00 CET'],
  ['Asia/Kolkata', '19 00:30 GMT+5:30', '20 01:30 GMT+5:30', '7 12:30 GMT+5:30'],
])('hours in UTC are chosen in %s', (timeZone, first, second, hour) => {
  const choices = utcHourChoices(timeZone, Date.UTC(2026, 0, 5, 21)).map(({ value, label }) => `${value} ${label}`)
  expect(choices).toHaveLength(24)
  expect(choices.slice(0, 2)).toEqual([first, second])
  expect(choices).toContain(hour)
})
