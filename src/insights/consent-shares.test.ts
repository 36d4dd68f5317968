import { expect, test } from 'bun:test'
import { HOUR_MS } from '../core/clock.ts'
import { consentShares } from './consent-shares.ts'
import { openHistory } from './history.fixture.ts'

test('the shares of consent are those of the weighted events of a domain in the time range', async () => {
  await using history = await openHistory()
  const { caller, domains, events, now, orgId } = history
  for (const domainId of [undefined, domains[0]?.id, domains[1]?.id]) {
    for (const hours of [24, 168]) {
      const own = events.filter(
        (event) =>
          event.orgId === orgId &&
          (domainId === undefined || event.domainId === domainId) &&
          event.kind === 'event' &&
          event.receivedAt > now - hours * HOUR_MS,
      )
      const weightOf = (consent: string | null) =>
        own.reduce((sum, { weight, segments }) => {
          const isMeant = consent === null || (segments.consent ?? 'unknown') === consent
          return isMeant ? sum + weight : sum
        }, 0)
      const all = weightOf(null)
      const shares = await consentShares.answer(history.sources(), { hours, ...(domainId && { domainId }) }, caller)
      expect(all).toBeGreaterThan(0)
      expect(shares.windowHours).toBe(hours)
      expect(shares.events).toBe(Math.round(all))
      expect(shares.grantedShare).toBeCloseTo(weightOf('granted') / all, 2)
      expect(shares.deniedShare).toBeCloseTo(weightOf('denied') / all, 2)
      expect(shares.unknownShare).toBeCloseTo(weightOf('unknown') / all, 2)
    }
  }
})

test('an unknown domain is rejected, and a domain without events has no shares', async () => {
  await using history = await openHistory()
  const { caller, domains } = history
  const answer = (domainId: string, now = caller.now) =>
    consentShares.answer(history.sources(), { hours: 1, domainId }, { ...caller, now })
  await expect(answer('dom_none')).rejects.toThrow('query.domainId: no such domain')
  await expect(answer(domains[2]?.id ?? '')).rejects.toThrow('query.domainId: no such domain')
  expect(await answer(domains[0]?.id ?? '', caller.now + 9 * HOUR_MS)).toEqual({
    windowHours: 1,
    events: 0,
    grantedShare: 0,
    deniedShare: 0,
    unknownShare: 0,
  })
})
