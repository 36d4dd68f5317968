import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { memoryDb } from '../../../test/fixtures.ts'
import { HOUR_MS } from '../../core/clock.ts'
import { tx } from '../../store/database.ts'
import { type EventFile, Manifest, type PageFile, type RollupFile, type SegmentFiles } from './manifest.ts'

const aPath = fc.integer({ min: 0, max: 11 }).map((n) => `${n}.parquet`)
const ofAnyOrg = fc.constantFrom(null, 'org_1', 'org_2')
/** Only a few different times, so that many files have the same time. */
const aMoment = fc.integer({ min: 0, max: 4 }).map((n) => n * HOUR_MS)
const common = { path: aPath, orgId: ofAnyOrg, rows: fc.nat(), sizeBytes: fc.nat(), sum: fc.option(fc.nat()) }

const anEventFile: fc.Arbitrary<EventFile> = fc.record({
  ...common,
  hour: aMoment,
  minReceivedAt: aMoment,
  maxReceivedAt: aMoment,
  maxSeq: fc.nat(),
  level: fc.constantFrom('fresh', 'merged', 'compacted'),
  hasSegments: fc.boolean(),
  keys: fc.option(fc.array(fc.constantFrom('a', 'A', '', '"', "it's", '\u2028', '[0]', 'null'))),
})
const aRollupFile: fc.Arbitrary<RollupFile> = fc.record({
  ...common,
  minMinute: aMoment,
  maxMinute: aMoment,
  level: fc.constantFrom('fresh', 'merged', 'hour', 'day', 'quarters'),
})
const aPageFile: fc.Arbitrary<PageFile> = fc.record({
  ...common,
  minReceivedAt: aMoment,
  maxReceivedAt: aMoment,
  level: fc.constantFrom('fresh', 'merged', 'hour', 'day'),
})

/** A change to the manifest, and whether it fails at the end. */
type Step = { fails: boolean } & (
  | { do: 'add'; segment: number; files: SegmentFiles }
  | { do: 'swap'; of: 'files'; removed: EventFile[]; added: EventFile[] }
  | { do: 'swap'; of: 'rollups'; removed: RollupFile[]; added: RollupFile[] }
  | { do: 'swap'; of: 'pages'; removed: PageFile[]; added: PageFile[] }
)

/** A swap of files that may not be in use, and may be both removed and added. */
const aSwap = <File, Of extends string>(of: Of, file: fc.Arbitrary<File>) => {
  const some = fc.array(file, { maxLength: 4 })
  return fc.record({
    do: fc.constant('swap' as const),
    of: fc.constant(of),
    fails: fc.boolean(),
    removed: some,
    added: some,
  })
}
const aStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('add' as const),
    fails: fc.boolean(),
    segment: fc.nat(3),
    files: fc.record({ file: fc.option(anEventFile), rollup: fc.option(aRollupFile), pages: fc.option(aPageFile) }),
  }),
  aSwap('files', anEventFile),
  aSwap('rollups', aRollupFile),
  aSwap('pages', aPageFile),
)

/** Files that the database rejects. */
const refused = <File extends { path: string }>(file: File | undefined): File[] =>
  file ? [{ ...file, path: 'refused.parquet', rows: 'many' }] : []

function carryOut(manifest: Manifest, step: Step): void {
  if (step.do === 'add') {
    manifest.addSegment(String(step.segment).padStart(12, '0'), step.files, 0, () => {
      if (step.fails) throw new Error('no room in the ledger')
    })
  } else if (step.of === 'files') {
    manifest.swap(step.removed, [...step.added, ...(step.fails ? refused(step.added[0]) : [])])
  } else if (step.of === 'rollups') {
    manifest.swapRollups(step.removed, [...step.added, ...(step.fails ? refused(step.added[0]) : [])])
  } else manifest.swapPages(step.removed, [...step.added, ...(step.fails ? refused(step.added[0]) : [])])
}

const contentOf = (manifest: Manifest) => [
  manifest.files(),
  manifest.rollups(),
  manifest.pages(),
  manifest.lastSegment(),
  manifest.lastSeq(),
  manifest.lastReceivedAt(),
]

const file = (n: number, values: Partial<EventFile> = {}): EventFile => ({
  path: `${n}.parquet`,
  orgId: 'org_1',
  hasSegments: true,
  hour: n * HOUR_MS,
  minReceivedAt: n * HOUR_MS,
  maxReceivedAt: n * HOUR_MS,
  maxSeq: n,
  rows: 1,
  sizeBytes: 1,
  sum: 7,
  level: 'compacted',
  keys: ['a'],
  ...values,
})

describe('the manifest in memory', () => {
  test('equals a newly read one after any changes; returned arrays stay unchanged', () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 20 }), (steps) => {
        const db = memoryDb()
        const manifest = new Manifest(db)
        for (const step of steps) {
          const held = contentOf(manifest)
          const before = structuredClone(held)
          const failed = (() => {
            try {
              carryOut(manifest, step)
              return false
            } catch {
              return true
            }
          })()
          if (failed) expect(contentOf(manifest)).toEqual(before)
          else if (step.do === 'add') expect(step.fails).toBe(false)
          expect(held).toEqual(before)
          expect(contentOf(manifest)).toEqual(contentOf(new Manifest(db)))
        }
        db.close()
      }),
      { numRuns: 100 },
    )
  })

  test('lists event files in the order of their first events', () => {
    fc.assert(
      fc.property(fc.array(fc.array(anEventFile, { maxLength: 4 }), { maxLength: 6 }), (swaps) => {
        const db = memoryDb()
        const manifest = new Manifest(db)
        for (const added of swaps) manifest.swap([], added)
        const order = db.prepare('SELECT path FROM eventFile ORDER BY minReceivedAt, path').pluck().all()
        expect(manifest.files().map(({ path }) => path)).toEqual(order as string[])
        db.close()
      }),
    )
  })

  test('is not reread when a segment is loaded or files are merged', () => {
    const manifest = new Manifest(memoryDb())
    manifest.swap([], [file(1), file(2)])
    const [first] = manifest.files()
    manifest.addSegment('000000000001', { file: file(3), rollup: null }, 0, () => undefined)
    manifest.swap([file(2)], [file(4)])
    expect(manifest.files().map(({ maxSeq }) => maxSeq)).toEqual([1, 3, 4])
    expect(manifest.files()[0]).toBe(first as EventFile)
  })

  test("can't be changed within another transaction", () => {
    const db = memoryDb()
    const manifest = new Manifest(db)
    const add = () => manifest.addSegment('000000000001', { file: file(1), rollup: null }, 0, () => undefined)
    for (const change of [add, () => manifest.swap([], [file(1)])]) {
      expect(() => tx(db, change)).toThrow('outside of other transactions')
      expect(contentOf(manifest)).toEqual(contentOf(new Manifest(db)))
    }
  })
})
