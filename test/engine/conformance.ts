import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import fc from 'fast-check'
import type { Alert } from '../../src/alerts/alert.ts'
import { parsePeriod } from '../../src/alerts/alert-period.ts'
import { wholeWindows } from '../../src/alerts/alert-windows.ts'
import { totalsQuery } from '../../src/alerts/event-totals.ts'
import { findEvents } from '../../src/alerts/find-events.ts'
import { judgeHistory } from '../../src/alerts/judge-past-events.ts'
import { dataValidation } from '../../src/alerts/types/data-validation/data-validation.ts'
import { aSpec, journeyInput, membersOf } from '../../src/alerts/types/journey/journey.fixture.ts'
import { journey } from '../../src/alerts/types/journey/journey.ts'
import { tagVolumeChange } from '../../src/alerts/types/volume/volume-change.ts'
import {
  changeSides,
  consentQuery,
  earlierPeriodsQuery,
  keysQuery,
  sessionsQuery,
  volumesQuery,
} from '../../src/changes/change-queries.ts'
import { firstEventQuery, librariesSeenQuery, versionsSeenQuery } from '../../src/changes/detect-releases.ts'
import { readChangeData } from '../../src/changes/read-change-data.ts'
import { shareCases } from '../../src/changes/share-cases.ts'
import { adSessionsQuery, choicesQuery, deniedQuery, signalsQuery } from '../../src/compliance/consent-queries.ts'
import { candidatesQuery } from '../../src/compliance/scan-personal-data.ts'
import { conditionsOf, type Rule } from '../../src/conditions/condition.ts'
import { isExact } from '../../src/conditions/condition-sql.ts'
import { compileFilters, compileViolation } from '../../src/conditions/predicate.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { aRule } from '../../src/conditions/random-rules.fixture.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { parameterNamesQuery, parameterUseQuery } from '../../src/digest/new-parameters.ts'
import { samplesOf } from '../../src/evidence/event-samples.ts'
import { seriesOf } from '../../src/evidence/evidence-series.ts'
import type { IssueProblem } from '../../src/evidence/issue-problem.ts'
import { beforeConsent } from '../../src/insights/before-consent.ts'
import { cookiesBeforeConsentQuery } from '../../src/insights/before-consent-query.ts'
import { compare } from '../../src/insights/compare.ts'
import { consentShares } from '../../src/insights/consent-shares.ts'
import { estimateDistinct } from '../../src/insights/distinct-values.ts'
import { eventDictionary, sessionCountQuery } from '../../src/insights/event-dictionary.ts'
import { eventSearch } from '../../src/insights/event-search.ts'
import { flatDictionary } from '../../src/insights/flat-dictionary.ts'
import { factsOf } from '../../src/insights/gather-cause-facts.ts'
import { lastEventsQuery } from '../../src/insights/idle-alerts.ts'
import { pageViewSampling } from '../../src/insights/page-view-sampling.ts'
import { pairedEvents } from '../../src/insights/paired-events.ts'
import { namesQuery, presenceQuery, shapesQuery, valuesQuery } from '../../src/insights/parameter-key-facts.ts'
import { performanceStats } from '../../src/insights/performance-stats.ts'
import { reconcileOrders } from '../../src/insights/reconcile-orders.ts'
import { eventsIn } from '../../src/insights/sample-estimates.ts'
import { brokenRulesQuery, namedTotalsQuery, statusesQuery } from '../../src/insights/scores.ts'
import { sessionFlows } from '../../src/insights/session-flows.ts'
import { silentLibraries } from '../../src/insights/silent-libraries.ts'
import { tagPerformance } from '../../src/insights/tag-performance.ts'
import { crowdedLists, keysOf, type ListForm, listsAmong } from '../../src/insights/value-lists.ts'
import { volumeSegments } from '../../src/insights/volume-segments.ts'
import { volumeSeries } from '../../src/insights/volume-series.ts'
import { findingOf, issueOfAlert, volumeAlert } from '../../src/issues/issue.fixture.ts'
import { capturedIdsQuery, capturedOrdersQuery } from '../../src/order-capture/capture-query.ts'
import { countScope } from '../../src/segments/segment-counts.ts'
import { type SegmentScope, segmentTotalsQuery } from '../../src/segments/segment-query.ts'
import { dailyEventsQuery } from '../../src/signals/active-signals.ts'
import { rowCountsQuery } from '../../src/signals/series-counts.ts'
import { trafficQuery } from '../../src/signals/server-outage.ts'
import { narrowed } from '../../src/warehouse/query.ts'
import type { History } from '../../src/warehouse/warehouse.ts'
import { clickhouseProblem } from './clickhouse-server.ts'
import { type EngineFixture, openEngineFixture } from './engine-fixture.ts'

/*
 * Runs every query of the program on two engines with the same events: DuckDB and ClickHouse. The results must be the
 * same, so no query depends on SQL that only one engine supports.
 */

/** Returns the names of all queries in the program's code. */
function queriesInCode(): string[] {
  const root = join(import.meta.dir, '../../src')
  const files = [...new Glob('**/*.ts').scanSync({ cwd: root })].filter((path) => !/\.(?:test|fixture)\.ts$/.test(path))
  const names = files.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/(?<![.\w])query\(\s*'([^']+)'/g)].map(
      ([, name]) => name ?? '',
    ),
  )
  return names.sort()
}

const sample = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number) => fc.sample(arbitrary, { numRuns, seed: 4711 })

/** Defines the tests with about this number of events, and ClickHouse with this number of shards. */
export function testConformance(asked: { events: number; shards: number }): void {
  const problem = clickhouseProblem()
  const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`
  describe.skipIf(problem !== null)(`both engines return the same results${reason}`, () => defineTests(asked))

  test('every query has a unique name', () => {
    const names = queriesInCode()
    expect(names.length).toBeGreaterThan(0)
    expect(names).toEqual([...new Set(names)])
  })
}

function defineTests(asked: { events: number; shards: number }): void {
  let world: EngineFixture
  beforeAll(async () => {
    world = await openEngineFixture(asked)
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  test('there are events in files of every level and in the spool', () => {
    expect(world.fixture.events.length).toBeGreaterThanOrEqual(asked.events)
    expect(new Set(world.fixture.levels())).toEqual(new Set(['compacted', 'fresh']))
    expect(world.fixture.spool.files().length).toBeGreaterThan(0)
  })

  test('complete events are equal', async () => {
    const ours = world.fixture.events.filter(({ orgId }) => orgId === world.orgId)
    for (let at = 0; at < ours.length; at += 5000) await findEvents(world.orgId, ours.slice(at, at + 5000), world.both)
  })

  test('rule violations are equal', async () => {
    const { both, window, alert } = world
    const ids = ['alr_1', 'alr_2', "alr_'4", 'alr_5']
    const alerts = ids.map((id) => alert({}, id))
    const type = dataValidation
    const many = [...alerts, ...Array.from({ length: 120 }, (_, n) => alert({}, `alr_none${n}`))]
    for (const some of [alerts, alerts.slice(0, 1), many]) {
      const query = type.measure(some, { ...window, complete: true }, [])
      const rows = await both.query<never>(query)
      // The query that is used after the clock has been set back.
      await both.query(
        narrowed(query, [`NOT (receivedAt >= ${window.from + HOUR_MS} AND seq <= ${window.from * 1000})`]),
      )
      const findings = some.flatMap((one) => type.judge(one, rows, { ...window, complete: true }, []))
      expect(findings.length).toBeGreaterThan(0)
      const totals = totalsQuery(world.orgId, findings, window)
      if (totals) await both.query(totals)
    }
    const begins = alerts.map((_, n) => window.from + n * 5 * HOUR_MS)
    await both.query(type.measureSince(alerts, begins, { ...window, complete: true }))
  })

  test('past violations of every kind of rule, and the newest violating events, are equal', async () => {
    const { both, alert, window, domainIds } = world
    const rules = sample(aRule, 100)
    for (const [n, { read: rule }] of rules.entries()) {
      const scope = n % 3 === 0 ? { domainIds: [domainIds[n % 2] ?? ''], vendors: n % 2 ? ['GA4'] : [] } : {}
      const one = alert({ ...(rule as object), ...scope })
      both.confirm = conditionsOf(one).every(isExact) ? null : compileViolation(one)
      const windows = wholeWindows(parsePeriod('6h'), 'UTC', window.from, window.to)
      await both.query(dataValidation.history.query(one, windows, { regions: [], oneIn: 1 }).query)
      if (n % 4 === 0) {
        await both.query(dataValidation.newestViolations(one, window, { regions: [], limit: 20 }))
      }
    }
    both.confirm = null
    await judgeHistory(
      alert({ conditions: { logic: 'any', items: [{ parameter: 'k', op: 'is_blank' }] } }),
      wholeWindows(parsePeriod('1h'), 'UTC', window.from, window.to),
      { warehouse: both, domains: [], privacy: PLAIN_PRIVACY },
    )
  })

  test('counts are equal, with and without filters', async () => {
    const { both, alert, window, domainIds } = world
    const type = tagVolumeChange
    const half = window.from + DAY_MS
    const shapes = sample(aRule, 60).map(({ read: rule }, n) => {
      const filters = conditionsOf(rule as Rule).filter(isExact)
      const event = ['', 'purchase', "it's"][n % 3] ?? ''
      return alert(
        {
          alertType: 'tag_volume_change',
          volume: { direction: 'drop', percent: 20, event },
          ...(n % 2 === 0 ? { vendors: ['Meta Pixel', `o'neill "x" \\`] } : {}),
          ...(n % 4 === 0 ? { domainId: domainIds[0] } : {}),
          filters: n % 3 === 0 ? [] : filters,
        },
        `alr_${n}`,
      )
    })
    const groups = Map.groupBy(shapes, (one) => type.scanKey(one, { from: half, to: window.to, complete: true }))
    for (const some of groups.values()) {
      await both.query(type.measure(some, { from: half, to: half + DAY_MS, complete: true }, []))
    }
    const windows = wholeWindows(parsePeriod('1h'), 'UTC', window.from, window.to)
    for (const one of shapes) {
      await both.query(type.history.query(one, windows, { regions: [], oneIn: 1 }).query)
    }
  })

  test('journeys are equal, past and present', async () => {
    const { both, alert, window, domainIds } = world
    const alerts = sample(aSpec, 30).map((spec, n) =>
      alert(
        {
          ...journeyInput(spec),
          ...(n % 4 === 0 ? { filters: [{ parameter: n % 8 === 0 ? '*' : 'k', op: 'equals', values: ['1'] }] } : {}),
          ...(n % 5 === 0 ? { domainId: domainIds[1] } : {}),
        },
        `alr_${n}`,
      ),
    )
    const one = { from: window.from + DAY_MS, to: window.from + DAY_MS + HOUR_MS, complete: true }
    for (let at = 0; at < alerts.length; at += 6) {
      await both.query(journey.measure(alerts.slice(at, at + 6), one, [], membersOf))
    }
    const windows = wholeWindows(parsePeriod('1h'), 'UTC', window.from, window.to)
    for (const alert of alerts.slice(0, 8)) {
      await both.query(journey.history.query(alert, windows, { regions: [], oneIn: 1 }, membersOf).query)
    }
  })

  test('samples of past sessions may differ between engines, but are about the same size', async () => {
    const { both, alert, window, fixture } = world
    const windows = wholeWindows(parsePeriod('1h'), 'UTC', window.from, window.to)
    const any = alert(journeyInput({ steps: [{ vendor: 'a' }] }))
    const sampled = (oneIn: number) => journey.history.query(any, windows, { regions: [], oneIn }, membersOf).query
    const sessions = (rows: readonly object[]) =>
      (rows as { sessions: number }[]).reduce((sum, row) => sum + row.sessions, 0)
    const whole = sessions(await both.query(sampled(1)))
    for (const engine of [fixture.warehouse, both.clickhouse]) {
      const share = sessions(await engine.query<object>(sampled(3))) / whole
      expect(share).toBeGreaterThan(0.5)
      expect(share).toBeLessThan(1.5)
    }
  })

  test('samples of past violations may differ between engines, but are about the same size', async () => {
    const { both, alert, window, fixture } = world
    const windows = wholeWindows(parsePeriod('1h'), 'UTC', window.from, window.to)
    const any = alert({ conditions: { logic: 'any', items: [{ parameter: 'k', op: 'is_blank' }] } })
    const violations = async (history: History, oneIn: number) => {
      const { query, rowsOf } = dataValidation.history.query(any, windows, { regions: [], oneIn })
      const rows = rowsOf(await history.query<never>(query)).flat()
      return rows.reduce((sum, row) => sum + row.occurrences, 0)
    }
    const whole = await violations(both, 1)
    for (const engine of [fixture.warehouse, both.clickhouse]) {
      const share = (await violations(engine, 3)) / whole
      expect(share).toBeGreaterThan(0.5)
      expect(share).toBeLessThan(1.5)
    }
  })

  test('evidence is equal', async () => {
    const { both, alert, window, orgId, domainIds, fixture } = world
    const sources = { history: both, chart: () => Promise.reject(new Error('no series is available')) }
    const rules = sample(aRule, 30)
    for (const [n, { read: rule }] of rules.entries()) {
      const kind = (['data_validation', 'volume_threshold', 'journey'] as const)[n % 3] ?? 'journey'
      const one = alertFor(kind, rule as Rule, n)
      const evidence = findingOf({ domainId: domainIds[0], vendor: 'a', event: 'x' })
      const issue = issueOfAlert(
        { ...one, impactValue: null, periodMs: HOUR_MS },
        {
          orgId,
          domainId: n % 2 === 0 ? domainIds[0] : null,
          evidence,
          firstSeenAt: window.from + DAY_MS,
          lastSeenAt: window.to - HOUR_MS,
        },
      )
      const trouble: IssueProblem = {
        issue,
        rule: one,
        occurrences: [],
        followed: null,
        privacy: PLAIN_PRIVACY,
        domainSince: 0,
        timezone: 'UTC',
        now: fixture.clock.now(),
        retainedFrom: 0,
      }
      both.confirm = one.filters?.every(isExact) === false ? compileFilters(one.filters, []) : null
      await Promise.all([seriesOf(trouble, sources), samplesOf(trouble, both)])
    }
    both.confirm = null

    function alertFor(alertType: 'data_validation' | 'volume_threshold' | 'journey', rule: Rule, n: number): Alert {
      if (alertType === 'data_validation') return alert({ alertType, ...rule } as never, ['alr_1', 'alr_2'][n % 2])
      if (alertType === 'journey') return alert(journeyInput(sample(aSpec, 60)[n] ?? { steps: [] }))
      const filters = conditionsOf(rule).filter(isExact)
      return alert({
        alertType,
        volume: { op: 'lte', count: 10, event: n % 2 ? 'x' : '' },
        filters: n % 6 === 1 ? [] : filters,
      })
    }
  })

  test('affected segments are equal', async () => {
    const { both, orgId, window, sources, principal, domainIds } = world
    const scope: SegmentScope = {
      orgId,
      window,
      includes: (binder) => ({ sql: `domainId <> ${binder.bind('dom_none')}` }),
      violates: (binder) => ({ sql: `violated AND ${binder.dialect.has('violations', binder.bind('alr_1'))}` }),
    }
    const { counts } = await countScope(scope, both)
    const without = [{ dimensions: ['browser', 'consent'], values: ["it's", 'granted'] }] as const
    const { tallies } = await counts.single(without)
    expect(tallies.length).toBeGreaterThan(20)
    const among = (['pageGroup', 'device', 'hour'] as const).map((dimension) => ({
      dimension,
      values: tallies
        .filter(({ dimensions }) => dimensions[0] === dimension)
        .flatMap(({ values }) => values.slice(0, 3)),
    }))
    expect((await counts.pairs(among, without)).length).toBeGreaterThan(5)
    await both.query(segmentTotalsQuery(scope, [...without, { dimensions: ['release'], values: ['2'] }]))
    const half = window.from + (window.to - window.from) / 2
    const periods = { from: half, to: window.to, baselineFrom: window.from, baselineTo: half }
    for (const asked of [{}, { domainId: domainIds[0], vendor: 'Meta Pixel', event: 'purchase' }]) {
      await volumeSegments.answer(sources, { ...asked, ...periods }, { principal, now: window.to })
    }
  })

  test('sessions that are compared by segment are equal', async () => {
    const { both, alert, window, orgId } = world
    let compared = 0
    for (const [n, spec] of sample(aSpec, 12).entries()) {
      const rule = alert(journeyInput(spec), `alr_${n}`)
      const issue = { orgId, alertId: rule.id, domainId: null, evidence: null }
      const incident = { issue, rule, privacy: PLAIN_PRIVACY, membersOf }
      const sessions = journey.evidence.sessions?.(incident, window, { oneIn: 1 })
      const relation = sessions?.relationOf(await both.query<never>(sessions.query))
      if (!relation) continue
      compared++
      const scope: SegmentScope = {
        orgId,
        window: relation.window,
        relation: relation.write,
        includes: () => ({ sql: 'true' }),
        violates: () => ({ sql: 'violates' }),
      }
      const { counts, size } = await countScope(scope, both)
      expect(size.violatingEvents).toBeGreaterThan(0)
      await counts.single([{ dimensions: ['device'], values: ['phone'] }])
    }
    expect(compared).toBeGreaterThan(3)
  })

  test('comparisons are equal', async () => {
    const { sources, principal, domainIds, window } = world
    const [domainId, other] = domainIds
    const half = window.from + (window.to - window.from) / 2
    const common = { from: window.from, to: window.to }
    const own = world.fixture.events.filter((event) => event.domainId === domainId && event.env === 'prod')
    const versions = new Set(own.flatMap(({ version }) => version ?? []))
    // The binding of the second engine accepts no larger integers.
    const [aVersion = 0, bVersion = 0] = [...versions].filter((version) => Math.abs(version) < 2 ** 53)
    const asked = [
      { domainId, aFrom: window.from, aTo: half, bFrom: half, bTo: window.to },
      { domainId, aVersion, bVersion, ...common },
      { domainId, aEnv: 'prod', bEnv: 'dev', ...common },
      { aDomainId: domainId, bDomainId: other, ...common },
    ] as const
    for (const input of asked) {
      const { rows } = await compare.answer(sources, input, { principal, now: window.to })
      expect(rows.length).toBeGreaterThan(0)
    }
  })

  test('requests before consent are equal', async () => {
    const { sources, principal, domainIds, window, both, orgId } = world
    const answer = await beforeConsent.answer(
      sources,
      { domainId: domainIds[0], hours: 744 },
      { principal, now: window.to },
    )
    expect(answer.vendors.length).toBeGreaterThan(5)
    for (const domainId of domainIds) await both.query(cookiesBeforeConsentQuery({ orgId, domainId, window, oneIn: 1 }))
  })

  test('search results are equal', async () => {
    const { sources, principal, domainIds, window } = world
    const texts = [
      '%',
      '_',
      "it's",
      '\\',
      '"',
      '😀',
      'é',
      'İ',
      '@',
      'NULL',
      'page',
      '\n',
      '1e400',
      'ß',
      '$p0',
      '{p0:String}',
      '\t',
    ]
    const inputs = [
      {},
      ...texts.map((q) => ({ q })),
      ...['', 'purchase', "it's", 'add "to" cart\\'].map((event) => ({ event, vendor: 'Meta Pixel' })),
      { domainId: domainIds[0], q: 'a', limit: 200 },
      { from: window.from + 1, to: window.from + HOUR_MS, vendor: '' },
    ]
    for (const input of inputs) {
      const { nextCursor } = await eventSearch.answer(
        sources,
        { from: window.from, ...input },
        { principal, now: window.to },
      )
      if (nextCursor !== null && !('q' in input))
        await eventSearch.answer(
          sources,
          { from: window.from, ...input, cursor: nextCursor },
          { principal, now: window.to },
        )
    }
  })

  test('the performance costs of vendors are equal', async () => {
    const { sources, principal, domainIds, window } = world
    for (const domainId of [undefined, ...domainIds.slice(0, 2)]) {
      const input = { hours: 744, ...(domainId !== undefined && { domainId }) }
      const { vendors } = await tagPerformance.answer(sources, input, { principal, now: window.to })
      expect(vendors.length).toBeGreaterThan(0)
    }
  })

  test('the shares of consent are equal', async () => {
    const { sources, principal, domainIds, window } = world
    for (const domainId of [undefined, ...domainIds.slice(0, 2)]) {
      const input = { hours: 168, ...(domainId !== undefined && { domainId }) }
      await consentShares.answer(sources, input, { principal, now: window.to })
    }
  })

  test('session flows are equal', async () => {
    const { sources, principal, domainIds, window } = world
    for (const input of [
      { hours: 72 },
      { hours: 336, maxSteps: 6 },
      { hours: 72, maxSteps: 2, domainId: domainIds[1] },
    ]) {
      const { steps } = await sessionFlows.answer(sources, input, { principal, now: window.to })
      expect(steps.length).toBeGreaterThan(0)
    }
  })

  test('parameters and their values are equal', async () => {
    const { sources, principal, domainIds, window, both, orgId } = world
    const caller = { principal, now: window.to }
    for (const scope of [{}, { vendor: '', event: "it's" }, { domainId: domainIds[1], hours: 7 }]) {
      await eventDictionary.answer(sources, { hours: 72, ...scope }, caller)
      await flatDictionary.answer(sources, { hours: 72, ...scope }, caller)
      await performanceStats.answer(sources, { hours: 72, ...scope }, caller)
    }
    await eventDictionary.answer(sources, { env: 'dev' }, caller)
    for (const segment of ['$browser=Safari', '$device=phone;$consent=granted', '$pageGroup=/cart', '$release=']) {
      await eventDictionary.answer(sources, { hours: 72, segment }, caller)
      await flatDictionary.answer(sources, { hours: 72, segment }, caller)
    }
    // Keys with three or more values are treated as having too many values to count exactly.
    const early = { from: window.from, to: window.from + 5 * HOUR_MS }
    const scope = { orgId, domainIds: domainIds.slice(0, 2), window: early, patterns: ['[a-c]$'] }
    for (const by of [['vendor'], ['domainId', 'vendor', 'event'], ['env', 'vendor']] as const) {
      const form: ListForm = { by, crowdedFrom: 3, typed: true, shown: 2, maybePersonal: 2, most: '' }
      await both.query(sessionCountQuery(scope))
      const crowded = await crowdedLists(both, scope, form)
      expect(crowded.length).toBeGreaterThan(0)
      const keys = keysOf(crowded)
      for (const shown of [true, false]) await listsAmong(both, scope, form, { keys, crowded, shown })
      await estimateDistinct(both, scope, keys)
    }
  })

  test('counts over time are equal', async () => {
    const { sources, principal, domainIds, window, both, orgId } = world
    const caller = { principal, now: window.to }
    for (const grain of ['minute', 'five_minutes', 'hour', 'day'] as const) {
      for (const scope of [{}, { vendor: '', event: "it's" }, { domainId: domainIds[1] }]) {
        const from = grain === 'minute' ? window.to - 3 * HOUR_MS : window.from
        await volumeSeries.answer(sources, { grain, from, to: window.to, ...scope } as never, caller)
      }
    }
    for (const id of domainIds.slice(0, 2)) {
      await pageViewSampling.answer(sources, { id }, caller)
      await silentLibraries.answer(sources, { id }, caller)
    }
    const series = [null, 'Meta Pixel', '', `o'neill "x" \\`].flatMap((vendor) =>
      domainIds.slice(0, 2).flatMap((domainId) =>
        (vendor === null ? [null] : [null, 'purchase', 'größe 😀']).map((event) => ({
          orgId,
          domainId,
          vendor,
          event,
          timezone: 'UTC',
        })),
      ),
    )
    for (const stepMs of [15 * MINUTE_MS, HOUR_MS]) {
      const [first, ...rest] = series.map((one) => ({ ...one, stepMs }))
      if (first) await both.query(rowCountsQuery([first, ...rest], window))
    }
    await both.query(dailyEventsQuery(orgId, domainIds.slice(0, 2), { from: window.from, to: window.to + 2 * DAY_MS }))
    for (const id of [...domainIds, 'dom_none']) await both.query(trafficQuery([id, 'dom_gone'], window))
  })

  test('possible personal data is equal', async () => {
    const { both, orgId, window } = world
    const patterns = [
      { name: 'letters', pattern: '(?i)[a-c]{2}' },
      { name: 'whole', pattern: '^.$' },
    ]
    const found = [
      [],
      [{ orgId, privacy: { regions: ['DE' as const], patterns } }],
      [{ orgId, privacy: { regions: [], patterns } }],
    ].map((owns) => both.query(candidatesQuery(owns, { orgId: null, window })))
    for (const rows of await Promise.all(found)) expect(rows.length).toBeGreaterThan(0)
  })

  test('scores and the data about the start of issues are equal', async () => {
    const { sources, orgId, domainIds, window, both } = world
    const ours = domainIds.slice(0, 2)
    for (const made of [statusesQuery, brokenRulesQuery, namedTotalsQuery]) await both.query(made(orgId, ours, window))
    const issues = ['Meta Pixel', `o'neill "x" \\`, null].flatMap((vendor, n) =>
      ours.map((domainId, at) =>
        issueOfAlert(volumeAlert, {
          id: `iss_${n}${at}`,
          orgId,
          domainId,
          firstSeenAt: window.from + (30 + n) * HOUR_MS + at,
          evidence: findingOf({ domainId, vendor }),
        }),
      ),
    )
    await factsOf(sources, orgId, issues, window.to)
  })

  test('suggestions and idle alerts are equal', async () => {
    const { both, orgId, domainIds, window } = world
    const scope = { orgId, domainIds: domainIds.slice(0, 2), window }
    const shapes = await both.query<{ key: string; different: number; weight: number }>(shapesQuery(scope))
    const keys = shapes.toSorted((a, b) => b.weight - a.weight).map(({ key }) => key)
    const few = shapes.filter(({ different }) => different < 10).map(({ key }) => key)
    await both.query(namesQuery(scope))
    await eventsIn({ history: both }, { ...scope, oneIn: 1 })
    await both.query(presenceQuery(scope, [...new Set(keys)].slice(0, 12), new Set(keys.slice(0, 6))))
    await both.query(valuesQuery(scope, [...new Set(few)]))
    await both.query(lastEventsQuery(orgId, window))
  })

  test('consent results are equal', async () => {
    const { window, both } = world
    await both.query(signalsQuery(window))
    await both.query(choicesQuery(window))
    const sessions = await both.query<{ sessionId: string }>(adSessionsQuery(window))
    const half = { from: window.from + DAY_MS, to: window.to }
    for (const ids of [null, sessions.slice(0, 20).map(({ sessionId }) => sessionId)]) {
      for (const span of [window, half]) await both.query(deniedQuery(span, ids))
    }
  })

  test('order results are equal', async () => {
    const { sources, principal, domainIds, window } = world
    const caller = { principal, now: window.to }
    for (const domainId of domainIds.slice(0, 2)) {
      const { vendors } = await reconcileOrders.answer(sources, { domainId, days: 5 }, caller)
      expect(vendors.length).toBeGreaterThan(1)
      expect(vendors.find(({ vendor }) => vendor === 'Meta Pixel')?.matched).toBeGreaterThan(0)
    }
  })

  test('captured orders are equal', async () => {
    const { both, orgId, domainIds, window } = world
    const keys = { ids: ['ep.transaction_id', 'cd[order_id]'], values: ['value', 'cd[value]'], own: [], pairing: [] }
    const orders = Array.from({ length: 50 }, (_, n) => ({
      id: `T-${n}`,
      slot: n % 3,
      value: n % 4 === 0 ? null : n,
      money: n,
      deadline: window.to - (n % 2) * DAY_MS,
    }))
    let found = 0
    for (const domainId of domainIds.slice(0, 2)) {
      for (const vendor of ['Meta Pixel', 'Google Analytics 4']) {
        const input = { scope: { orgId, domainId, window }, vendor, keys, orders }
        found += (await both.query(capturedOrdersQuery(input, 0.01))).length
        await both.query(capturedIdsQuery(input))
      }
    }
    expect(found).toBeGreaterThan(0)
  })

  test('matches between browser and server events are equal', async () => {
    const { sources, principal, window } = world
    const { events } = await pairedEvents.answer(sources, { days: 5 }, { principal, now: window.to })
    expect(events.some(({ matched }) => matched > 0)).toBe(true)
  })

  test('new parameters in a digest are equal', async () => {
    const { both, orgId, window } = world
    const names = await both.query<{ name: string }>(parameterNamesQuery(orgId, window))
    const keys = names.map(({ name }) => name).filter((name) => name !== '')
    await both.query(parameterUseQuery(orgId, keys.slice(0, 20), window, window.from + DAY_MS))
  })

  test('results about changes are equal', async () => {
    const { both, window, orgId, domainIds } = world
    const about = { orgId, domainId: domainIds[0] }
    for (const [n, lengthMs] of [5 * MINUTE_MS, 20 * HOUR_MS].entries()) {
      const around = { ...about, at: window.to - lengthMs - n * HOUR_MS, lengthMs }
      const { tables, past } = await readChangeData(around, { version: null, youngAlerts: ['alr_1'] }, both)
      const cases = shareCases(tables)
      await past(cases.slice(0, 20))
    }
    await both.query(volumesQuery({ ...about, at: window.to + 14 * DAY_MS, lengthMs: 7 * DAY_MS }))
    const reading = { ...about, at: window.from + 30 * HOUR_MS, lengthMs: 12 * HOUR_MS, oneIn: 1, youngAlerts: [] }
    const versioned = { ...reading, newVersions: [2, 3.5] }
    await both.query(sessionsQuery(changeSides(versioned)))
    await both.query(keysQuery(changeSides(versioned), { keys: ['k', 'K', 'value', "it's"], events: [] }))
    await both.query(consentQuery(changeSides(versioned), 'k'))
    await both.query(consentQuery(changeSides({ ...reading, newVersions: [] }), 'consent.ad_storage'))
    await both.query(earlierPeriodsQuery(versioned, { vendors: ['GA4', 'a'], events: [], keys: ['k', 'value'] }))
    await both.query(
      earlierPeriodsQuery({ ...versioned, at: window.to + DAY_MS }, { vendors: [], events: [], keys: ['k'] }),
    )
    await both.query(volumesQuery({ ...versioned, at: window.to + DAY_MS }))
    await both.query(versionsSeenQuery(window))
    await both.query(librariesSeenQuery(window))
    await both.query(firstEventQuery(window.to))
  })

  test.each(queriesInCode())('%s', (name) => {
    // The query was run above. If its results had differed, one of the tests above would have failed.
    expect(world.both.compared.get(name)).toBeGreaterThan(0)
  })
}
