import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { plainPage } from '../../core/stored-page-view.fixture.ts'
import type { StoredPage } from '../../core/stored-page-view.ts'
import { HOUR, plainQuery, WarehouseFixture } from '../warehouse.fixture.ts'
import { compactPages } from './compact-pages.ts'
import { GRACE_MS } from './plan-merges.ts'

/** Loads segments that contain these pages and no events. */
async function load(fixture: WarehouseFixture, segments: readonly (readonly StoredPage[])[]): Promise<void> {
  for (const pages of segments) {
    const { receivedAt = 0 } = pages[0] ?? {}
    const answer = { accepted: 0, rejected: 0, errors: [] }
    fixture.clock.set(receivedAt)
    await fixture.spool.append([], {
      key: null,
      orgId: 'o',
      domainId: 'd',
      receivedAt,
      answer,
      ledger: [],
      pages: [...pages],
    })
    await fixture.flush()
  }
}

const ask = (fixture: WarehouseFixture, orgId: string | null, window = { from: 0, to: Number.MAX_SAFE_INTEGER }) =>
  fixture.warehouse.query<StoredPage>(
    plainQuery({
      sql: 'SELECT * FROM pages ORDER BY page, vendor',
      over: 'pages',
      params: {},
      keys: [],
      orgId,
      window,
    }),
  )

const compactAt = (fixture: WarehouseFixture, now: number) =>
  compactPages(fixture.parquet, fixture.manifest, fixture.folder, now)

const aPage = fc.record({
  receivedAt: fc.integer({ min: HOUR, max: HOUR + 3 * DAY_MS }),
  orgId: fc.constantFrom('org_1', 'org_2'),
  host: fc.constantFrom(null, 'shop.example', 'o\'neill "x" \u2028'),
  vendor: fc.constantFrom('', 'Meta Pixel', 'Grün & Söhne'),
  requests: fc.nat(50),
  durMs: fc.array(fc.integer({ min: 0, max: 9000 }), { maxLength: 5 }),
  blockMs: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
  bytes: fc.option(fc.integer({ min: 0, max: 1e9 })),
  loaf: fc.boolean(),
  weight: fc.constantFrom(1, 4, 1 / 0.3),
})

describe('pages', () => {
  test('match the loaded pages for the requested organization and window, after any merges', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(aPage, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
        fc.array(fc.integer({ min: HOUR, max: HOUR + 5 * DAY_MS }), { maxLength: 3 }),
        fc.integer({ min: HOUR, max: HOUR + 3 * DAY_MS }),
        async (said, compactions, from) => {
          await using fixture = await WarehouseFixture.open()
          let page = 0
          const segments = said.map((pages) =>
            pages.map((one) => plainPage({ ...one, ts: one.receivedAt, page: ++page })),
          )
          await load(fixture, segments)
          for (const now of compactions) await compactAt(fixture, now)
          const all = segments.flat()
          expect(await ask(fixture, null)).toEqual(all)
          const window = { from, to: from + DAY_MS }
          const ours = all.filter(
            ({ orgId, receivedAt }) => orgId === 'org_1' && receivedAt >= window.from && receivedAt < window.to,
          )
          expect(await ask(fixture, 'org_1', window)).toEqual(ours)
          expect(readdirSync(join(fixture.folder, 'pages')).length).toBe(fixture.manifest.pages().length)
        },
      ),
      { numRuns: 12 },
    )
  })

  test('are merged into one file per hour and organization, then one per day', async () => {
    await using fixture = await WarehouseFixture.open()
    const at = (minutes: number, orgId = 'org_1') => plainPage({ receivedAt: HOUR + minutes * MINUTE_MS, orgId })
    await load(
      fixture,
      Array.from({ length: 17 }, (_, n) => [at(n)]),
    )
    const levels = () => fixture.manifest.pages().map(({ level, orgId }) => `${level} ${orgId}`)
    await compactAt(fixture, HOUR + 17 * MINUTE_MS)
    expect(levels().sort()).toEqual(['fresh org_1', 'merged org_1'])
    await load(fixture, [[at(59), at(59, 'org_2')]])
    await compactAt(fixture, HOUR + HOUR_MS + GRACE_MS)
    expect(levels().sort()).toEqual(['hour org_1', 'hour org_2'])
    await compactAt(fixture, HOUR + 2 * DAY_MS)
    expect(levels().sort()).toEqual(['day org_1', 'day org_2'])
    const before = fixture.manifest.pages()
    await compactAt(fixture, HOUR + 2 * DAY_MS)
    expect(fixture.manifest.pages()).toBe(before)
    expect(await ask(fixture, null)).toHaveLength(19)
  })

  test('survive a restart; files that are not in the manifest remain, and temporary files are removed', async () => {
    await using fixture = await WarehouseFixture.open()
    await load(fixture, [[plainPage({ receivedAt: HOUR })]])
    await Bun.write(join(fixture.folder, 'pages', 'left.parquet'), 'half')
    await Bun.write(join(fixture.folder, 'tmp', '000000000007.parquet.ndjson'), 'half')
    await fixture.reopen()
    expect(await ask(fixture, 'org_1')).toHaveLength(1)
    expect(readdirSync(join(fixture.folder, 'pages')).sort()).toEqual(['000000000001.parquet', 'left.parquet'])
    expect(readdirSync(join(fixture.folder, 'tmp'))).toEqual([])
  })
})
