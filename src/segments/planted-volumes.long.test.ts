import { describe, expect, test } from 'bun:test'
import { isCauseFirst, plantedVolume, type VolumeChange } from './planted-volumes.fixture.ts'

const CASES = 40

describe('a change of volume in one segment', () => {
  // Events sent several times in a session are fewer independent observations than sessions with lost events.
  test.each<[VolumeChange, number, number]>([
    ['loss', 0.95, 1000],
    ['rise', 0.9, 2000],
  ])(`is found with its share in ${CASES} shops: %s, in at least %p of them`, async (change, least, seed) => {
    const found: boolean[] = []
    for (let n = 0; n < CASES; n++) {
      const planted = await plantedVolume(change, seed + n)
      found.push(isCauseFirst(planted))
      if (!found.at(-1)) continue
      const { answer, counts } = planted
      const lost = ({ before, now }: typeof counts.all) => (change === 'loss' ? before - now : now - before)
      const share = (100 * lost(counts.inside)) / lost(counts.all)
      // The found segment may be the planted one by another name, with a few other events.
      expect(Math.abs((answer.segments[0]?.sharePct ?? 0) - share)).toBeLessThan(6)
      expect(answer.violating).toBe(lost(counts.all))
      expect(answer.summary).toContain(
        change === 'loss' ? 'of the missing events are from' : 'of the additional events',
      )
    }
    expect(found.filter(Boolean).length / CASES).toBeGreaterThanOrEqual(least)
  })

  test(`that is a shift of its traffic is not called a loss, in at least 95 % of ${CASES} shops`, async () => {
    const right: boolean[] = []
    for (let n = 0; n < CASES; n++) {
      const { answer } = await plantedVolume('shift', 3000 + n)
      right.push(answer.segments.length === 0 && answer.summary.includes('Traffic changed: other events from '))
    }
    expect(right.filter(Boolean).length / CASES).toBeGreaterThanOrEqual(0.95)
  })
})

test(`no segment is named in at least 95 % of ${CASES} shops in which none changed more than others`, async () => {
  const right: boolean[] = []
  for (let n = 0; n < CASES; n++) {
    const { answer } = await plantedVolume('none', 4000 + n)
    right.push(answer.segments.length === 0)
    expect(answer.segments.length > 0 || answer.summary.startsWith('No segment stands out: ')).toBe(true)
  }
  expect(right.filter(Boolean).length / CASES).toBeGreaterThanOrEqual(0.95)
})
