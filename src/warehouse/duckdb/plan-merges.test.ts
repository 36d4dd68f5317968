import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS } from '../../core/clock.ts'
import { HOUR } from '../warehouse.fixture.ts'
import type { EventFile } from './manifest.ts'
import { GRACE_MS, JOINED_ROWS, planMerges } from './plan-merges.ts'

let made = 0
function file(values: Partial<EventFile> = {}): EventFile {
  const hour = values.hour ?? HOUR
  return {
    path: `${++made}.parquet`,
    orgId: 'org_1',
    hour,
    minReceivedAt: hour,
    maxReceivedAt: hour + HOUR_MS - 1,
    maxSeq: made,
    rows: 1000,
    sizeBytes: 60_000,
    sum: null,
    level: 'fresh',
    keys: values.level === 'compacted' ? [] : null,
    hasSegments: true,
    unpackedBytes: (values.rows ?? 1000) * 250,
    ...values,
  }
}
const files = (count: number, values: Partial<EventFile> = {}) => Array.from({ length: count }, () => file(values))
const M = 1_000_000
const MB = 1024 * 1024

/** Formats merges as `level: rows + rows`. */
const inShort = (all: readonly EventFile[], now: number) =>
  planMerges(all, now).map(({ level, files }) => `${level}: ${files.map(({ rows }) => rows).join(' + ')}`)

const RUNNING = HOUR + HOUR_MS + GRACE_MS - 1
const ENDED = HOUR + HOUR_MS + GRACE_MS

describe('the limit on unpacked bytes sorted together', () => {
  test.each<[string, EventFile[], string[]]>([
    [
      'narrow events',
      files(3, { unpackedBytes: 400 * MB, rows: M }),
      ['compacted: 1000000 + 1000000', 'compacted: 1000000'],
    ],
    ['wide events', files(3, { unpackedBytes: 15 * MB, rows: 1001 }), ['compacted: 1001 + 1001', 'compacted: 1001']],
    [
      'a single file above the limit, which is merged alone',
      [file({ unpackedBytes: 300 * MB, rows: 7 }), file({ rows: 8 })],
      ['compacted: 7', 'compacted: 8'],
    ],
    [
      'files from earlier versions, based on an estimate',
      files(2, { rows: 3 * M }).map(({ unpackedBytes: _, ...file }) => file),
      ['compacted: 3000000', 'compacted: 3000000'],
    ],
  ])('applies to %s', (_, all, expected) => {
    expect(inShort(all, ENDED)).toEqual(expected)
  })

  test('unsorted files are final and are not joined into a day', () => {
    const kept = files(3, { level: 'compacted', keys: null })
    expect(inShort(kept, HOUR + 3 * DAY_MS)).toEqual([])
  })
})

describe('planMerges merges', () => {
  test.each<[string, EventFile[], number, string[]]>([
    ['nothing if there are no files', [], ENDED, []],
    ['all files of an hour that has ended', [file({ rows: 1 }), file({ rows: 2 })], ENDED, ['compacted: 1 + 2']],
    ['a single file', [file({ rows: 5 })], ENDED, ['compacted: 5']],
    ['merged files', [file({ rows: 5, level: 'merged' })], ENDED, ['compacted: 5']],
    ['no files until two minutes after their hour', [file({ rows: 5 })], RUNNING, []],
    ['no compacted files', files(3, { level: 'compacted' }), ENDED, []],
    [
      'a compacted file and a late file',
      [file({ level: 'compacted', rows: 7 }), file({ rows: 1 })],
      ENDED,
      ['compacted: 7 + 1'],
    ],
    [
      'only the late file if the compacted file is large',
      [file({ level: 'compacted', rows: 2 * M + 1 }), file({ rows: 1 })],
      ENDED,
      ['compacted: 1'],
    ],
    [
      'as many rows at a time as can be sorted',
      files(5, { rows: 1.5 * M }),
      ENDED,
      ['compacted: 1500000 + 1500000', 'compacted: 1500000 + 1500000', 'compacted: 1500000'],
    ],
    [
      'a single file above the limit for sorting',
      [file({ rows: 5 * M }), file({ rows: 1 })],
      ENDED,
      ['compacted: 5000000', 'compacted: 1'],
    ],
    [
      'as many bytes at a time as can be sorted',
      files(5, { rows: 10, sizeBytes: 12 * MB }),
      ENDED,
      ['compacted: 10 + 10', 'compacted: 10 + 10', 'compacted: 10'],
    ],
    ['no files with many bytes during their hour', files(16, { sizeBytes: 2 * MB }), RUNNING, []],
    [
      'no compacted file on its own',
      [file({ level: 'compacted', rows: 2 * M }), file({ rows: 3 * M })],
      ENDED,
      ['compacted: 3000000'],
    ],
    [
      'sixteen small files during their hour',
      files(16, { rows: 2 }),
      RUNNING,
      [`merged: ${Array(16).fill(2).join(' + ')}`],
    ],
    ['nothing if there are only fifteen small files during their hour', files(15), RUNNING, []],
    ['sixteen small files at a time', files(40, { rows: 1 }), RUNNING, [`merged: ${Array(16).fill(1).join(' + ')}`]],
    [
      'sixteen small merged files',
      files(16, { level: 'merged', rows: 1 }),
      RUNNING,
      [`merged: ${Array(16).fill(1).join(' + ')}`],
    ],
    ['no large files during their hour', files(16, { rows: 50_000 }), RUNNING, []],
    ['no compacted files during their hour', files(16, { level: 'compacted' }), RUNNING, []],
    [
      'the files of each hour separately',
      [file({ rows: 1 }), file({ rows: 2, hour: HOUR - HOUR_MS })],
      ENDED,
      ['compacted: 1', 'compacted: 2'],
    ],
  ])('%s', (_what, all, now, expected) => {
    expect(inShort(all, now)).toEqual(expected)
  })
})

const DAY = Math.floor(HOUR / DAY_MS) * DAY_MS
const OVER = DAY + DAY_MS + GRACE_MS
/** Compacted hours of one day. */
const hours = (count: number, values: Partial<EventFile> = {}) =>
  Array.from({ length: count }, (_, n) => file({ hour: DAY + n * HOUR_MS, level: 'compacted', rows: n + 1, ...values }))

describe('planMerges joins', () => {
  test.each<[string, EventFile[], number, string[]]>([
    ['small files of a day that has ended', hours(4), OVER, ['compacted: 1 + 2 + 3 + 4']],
    ['no files while late segments of the last hour may still arrive', hours(4), OVER - 1, []],
    ['no single file', hours(1), OVER, []],
    ['no files from different days', [...hours(1), ...hours(1, { hour: DAY - HOUR_MS })], OVER, []],
    [
      'the files of each organization separately',
      [...hours(2), ...hours(2, { orgId: 'org_2' })],
      OVER,
      ['compacted: 1 + 2', 'compacted: 1 + 2'],
    ],
    ['no files with many rows', [...hours(3, { rows: 40_000 }), ...hours(1)], OVER, []],
    ['no files with many bytes', [...hours(3, { sizeBytes: 2 * MB }), ...hours(1)], OVER, []],
    [
      'small files of a day that also has a large one',
      [...hours(1, { rows: M }), ...hours(2)],
      OVER,
      ['compacted: 1 + 2'],
    ],
    [
      'a joined file and a late file',
      [...hours(1, { rows: 30_000 }), ...hours(1, { rows: 7, hour: DAY + 5 * HOUR_MS })],
      OVER,
      ['compacted: 30000 + 7'],
    ],
    [
      'no files while an hour of the day awaits compaction',
      [...hours(3), file({ hour: DAY + 5 * HOUR_MS, rows: 7, orgId: null })],
      OVER,
      ['compacted: 7'],
    ],
    [
      'scanned and unscanned files separately',
      [...hours(2, { lookedAt: OVER }), ...hours(2)],
      OVER,
      ['compacted: 1 + 2', 'compacted: 1 + 2'],
    ],
    [
      'as many bytes at a time as can be sorted',
      hours(24, { rows: 10, sizeBytes: 1.9 * MB }),
      OVER,
      [`compacted: ${Array(16).fill(10).join(' + ')}`, `compacted: ${Array(8).fill(10).join(' + ')}`],
    ],
    [
      'a few days at a time, after all other merges',
      [
        ...[1, 2, 3, 4].flatMap((day) => hours(20, { hour: DAY - day * DAY_MS, rows: 20_000 })),
        file({ hour: DAY - DAY_MS / 2 + DAY_MS, rows: 7 }),
      ],
      OVER,
      ['compacted: 7', ...Array(2).fill(`compacted: ${Array(20).fill(20_000).join(' + ')}`)],
    ],
  ])('%s', (_what, all, now, expected) => {
    expect(inShort(all, now)).toEqual(expected)
  })
})

const rowsOf = (some: readonly EventFile[]) => some.reduce((sum, { rows }) => sum + rows, 0)
/** Returns the files that a merge would produce, one for each organization. */
function mergedFiles({ files, level }: ReturnType<typeof planMerges>[number]): EventFile[] {
  const [first] = files
  const orgs = level === 'merged' ? [null] : [...new Set(files.map(({ orgId }) => orgId ?? 'org_1'))]
  return orgs.map((orgId, at) =>
    file({
      orgId,
      level,
      hour: Math.min(...files.map(({ hour }) => hour)),
      rows: at === 0 ? rowsOf(files) : 0,
      sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      ...(first?.lookedAt && { lookedAt: first.lookedAt }),
    }),
  )
}

test('no event is merged twice or lost, and planning terminates', () => {
  const aFile = fc.record({
    hour: fc.integer({ min: -50, max: 2 }).map((n) => DAY + DAY_MS + n * HOUR_MS),
    rows: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 5 * M })),
    sizeBytes: fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 40 * MB })),
    level: fc.constantFrom<EventFile['level']>('fresh', 'merged', 'compacted'),
    orgId: fc.constantFrom('org_1', 'org_2'),
    isLooked: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(aFile, { maxLength: 60 }), (values) => {
      let all = values.map(({ isLooked, ...own }) => file({ ...own, ...(isLooked && { lookedAt: 1 }) }))
      const rows = rowsOf(all)
      for (let round = 0; ; round++) {
        const merges = planMerges(all, OVER)
        if (merges.length === 0) break
        expect(round).toBeLessThan(120)
        const used = merges.flatMap((merge) => merge.files)
        expect(new Set(used).size).toBe(used.length)
        for (const merge of merges) {
          expect(new Set(merge.files.map(({ hour }) => Math.floor(hour / DAY_MS))).size).toBe(1)
          expect(new Set(merge.files.map(({ lookedAt }) => lookedAt)).size).toBe(1)
          all = all.filter((each) => !merge.files.includes(each))
          all.push(...mergedFiles(merge))
        }
        expect(rowsOf(all)).toBe(rows)
      }
      expect(all.every(({ hour, level }) => hour + HOUR_MS + GRACE_MS > OVER || level === 'compacted')).toBe(true)
      const small = all.filter(
        (file) => file.hour < DAY + DAY_MS && file.rows < 40_000 && file.sizeBytes < 2 * MB && file.rows > 0,
      )
      const places = small.map(({ hour, orgId, lookedAt }) => `${Math.floor(hour / DAY_MS)} ${orgId} ${lookedAt}`)
      // After several rounds of planning, a day has at most one small file.
      expect(new Set(places).size).toBe(places.length)
    }),
  )
})

test('the number of rows joined at once is limited', () => {
  const days = Array.from({ length: 90 }, (_, day) => hours(24, { hour: DAY - day * DAY_MS, rows: 10_000 })).flat()
  const merges = planMerges(days, OVER)
  expect(merges.length).toBe(4)
  expect(rowsOf(merges.flatMap(({ files }) => files))).toBeLessThanOrEqual(JOINED_ROWS)
})
