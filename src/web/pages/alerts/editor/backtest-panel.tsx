import { Button, SegmentedControl, Stack, Text, Alert as Warning } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { listChangesOptions } from '#client/@tanstack/react-query.gen'
import type { AlertBacktest, AlertPreview, Form } from '#client/types.gen'
import { ApiError } from '../../../api/api-error.ts'
import { STALE_MS } from '../../../api/queries.ts'
import { BandChart } from '../../../charts/band-chart.tsx'
import { type BandPoint, type Span, stepOf } from '../../../charts/band-layout.ts'
import { BarChart } from '../../../charts/bar-chart.tsx'
import { Card } from '../../../components/card.tsx'
import { Code, Data, Sentence } from '../../../components/data-text.tsx'
import { formatDay, formatDuration, formatNumber } from '../../../components/format.ts'
import { ErrorNotice, SkeletonLines } from '../../../components/query-state.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { useTimeZone } from '../../../components/use-time-zone.ts'
import { messages } from '../../../messages.ts'
import { barsOf, firedIn, longestOf, perWeek, runsOf } from './backtest-summary.ts'
import { missingOf } from './convert-alert-draft.ts'
import { type Draft, domainsOf, hasConditions } from './draft.ts'
import classes from './editor.module.css'
import { type Sample, sourceOf, timeOf, valueAt } from './read-sample-fields.ts'
import { Sensitivity, sensitivityField } from './sensitivity.tsx'
import { BACKTEST_DAYS, type BacktestResult, type Days, previewDays, useBacktest } from './use-backtest.ts'

const MINUTE_MS = 60_000
const MAX_CHANGES = 50
const HEIGHT_PX = 220

/** Issues per week above which a rule is considered noisy. */
const NOISE_PER_WEEK = 40

interface BacktestPanelProps {
  draft: Draft
  form: Form | undefined
  /** Replaces the draft; null without permission to edit. */
  change: ((draft: Draft) => void) | null
}

/** The rule's findings in past events. Reloaded after each change; the previous result stays visible while loading. */
export function BacktestPanel({ draft, form, change }: BacktestPanelProps) {
  const [days, setDays] = useState<Days>(14)
  const missing = missingOf(draft, form)
  const { preview, backtest } = useBacktest(draft, days, {
    hasSensitivity: sensitivityField(form) !== null,
    isWhole: missing === null,
  })
  const t = messages.alert
  const [isOpen, open] = useState(false)
  const isAsking = missing === null && (preview.isAsking || backtest.isAsking)
  return (
    <Card
      title={t.backtest}
      actions={
        <Button
          variant="subtle"
          size="compact-sm"
          className={classes.toggle}
          aria-expanded={isOpen}
          onClick={() => open(!isOpen)}
        >
          {t.details}
        </Button>
      }
    >
      <div className={classes.progress} data-asking={isAsking || undefined} />
      <div aria-busy={isAsking}>
        {missing !== null && <Missing missing={missing} />}
        <ResultView of={backtest}>{(answer) => <FiringSummary answer={answer} days={days} />}</ResultView>
        {/* The same error is not shown twice. */}
        {!(backtest.error && preview.error) && (
          <ResultView of={preview}>
            {(answer) => <MatchSummary answer={answer} days={previewDays(days)} form={form} />}
          </ResultView>
        )}
        <Stack gap="md" className={classes.details} data-open={isOpen || undefined}>
          <SegmentedControl
            size="xs"
            aria-label={t.backtestDays}
            value={String(days)}
            onChange={(chosen) => setDays(Number(chosen) as Days)}
            data={BACKTEST_DAYS.map((value) => ({ value: String(value), label: t.daysShort(value) }))}
          />
          <Details of={backtest}>
            {(answer) => <BacktestDetails answer={answer} days={days} draft={draft} form={form} change={change} />}
          </Details>
          <Details of={preview}>
            {(answer) => <PreviewDetails answer={answer} days={previewDays(days)} draft={draft} form={form} />}
          </Details>
        </Stack>
      </div>
    </Card>
  )
}

function Missing({ missing }: { missing: NonNullable<ReturnType<typeof missingOf>> }) {
  const t = messages.alert
  const row = () => ('part' in missing ? t[missing.part](missing.n) : '')
  return (
    <Text c="dimmed" role="status">
      {t.incomplete}{' '}
      {'title' in missing ? <Data>{missing.title}</Data> : missing.group ? t.inGroup(row(), missing.group) : row()}
    </Text>
  )
}

/**
 * A backtest result. It is dimmed while it belongs to an older version of the rule. If the rule is incomplete, the
 * server's error is shown instead.
 */
function ResultView<T>({ of, children }: { of: BacktestResult<T>; children: (answer: T) => ReactNode }) {
  const { data, error, isOld, isAsking, retry } = of
  if (error instanceof ApiError && error.status === 400) {
    return (
      <Text c="dimmed" role="status">
        {messages.alert.incomplete} <Sentence>{error.message.replace(/^`?rule\./, '')}</Sentence>
      </Text>
    )
  }
  if (error) return <ErrorNotice refusal={error} retry={retry} isAsking={isAsking} />
  if (data === undefined) return isAsking ? <SkeletonLines /> : null
  return <div className={isOld ? classes.asking : undefined}>{children(data)}</div>
}

/** Details of a result; errors are shown above. */
function Details<T>({
  of: { data, error, isOld },
  children,
}: {
  of: BacktestResult<T>
  children: (answer: T) => ReactNode
}) {
  if (error || data === undefined) return null
  return <div className={isOld ? classes.asking : undefined}>{children(data)}</div>
}

function FiringSummary({ answer: { buckets }, days }: { answer: AlertBacktest; days: number }) {
  const t = messages.alert
  const zone = useTimeZone()
  const fired = firedIn(buckets)
  const longest = longestOf(runsOf(buckets))
  return (
    <>
      <Text fz="lg" fw={600} role="status">
        {t.wouldFire(fired, days)}
      </Text>
      {fired > 0 && (
        <Text c="dimmed" fz="sm">
          {t.weeklyEstimate(formatNumber(perWeek(fired, days), 1))}{' '}
          {longest && t.longest(formatDuration(longest.to - longest.from), formatDay(longest.from, zone))}
        </Text>
      )}
    </>
  )
}

interface MatchProps {
  answer: AlertPreview
  days: number
  form: Form | undefined
}

function MatchSummary({ answer: { matched, scanned }, days, form }: MatchProps) {
  const t = messages.alert
  const [found, all] = [formatNumber(matched, 0), formatNumber(scanned, 0)]
  return (
    <Text fz="sm" role="status">
      {hasConditions(form) ? t.matches(found, all, days) : t.found(found, all, days)}
    </Text>
  )
}

function BacktestDetails({
  answer,
  days,
  draft,
  form,
  change,
}: BacktestPanelProps & { answer: AlertBacktest; days: number }) {
  const { buckets, grain, method, coverage, exact, alternatives, series, specialPeriods } = answer
  const fired = firedIn(buckets)
  const t = messages.alert
  const sentence = t.wouldFire(fired, days)
  return (
    <Stack gap="sm">
      {perWeek(fired, days) > NOISE_PER_WEEK && <Warning color="yellow">{t.tooOften}</Warning>}
      {series && series.length > 0 ? (
        <Band
          points={series}
          bad={runsOf(buckets)}
          special={specialPeriods}
          summary={sentence}
          domainIds={domainsOf(draft)}
        />
      ) : (
        buckets.length > 0 && (
          <BarChart
            title={t.barsTitle}
            isTitleHidden
            summary={sentence}
            unit={t.barsUnit[grain]}
            badWord={t.wouldFireMark}
            points={barsOf(buckets)}
            special={specialPeriods}
            height={120}
          />
        )
      )}
      {alternatives && (
        <Sensitivity draft={draft} form={form} change={change} alternatives={alternatives} days={days} />
      )}
      <Text fz="xs" c="dimmed">
        {method === 'sampled' && coverage
          ? t.sampled(formatNumber(coverage.sampled, 0), formatNumber(coverage.total, 0), days)
          : method === 'rollup'
            ? t.rollup(days)
            : t.exact(days)}
        {!exact && method !== 'sampled' && ` ${t.partlyStored}`}
      </Text>
    </Stack>
  )
}

function PreviewDetails({ answer, days, draft, form }: MatchProps & { draft: Draft }) {
  const { matched, scanned, samples } = answer
  const t = messages.alert
  return (
    <Stack gap="sm">
      {scanned === 0 && <Warning color="yellow">{t.nothingInScope}</Warning>}
      {hasConditions(form) && matched > scanned / 2 && <Warning color="yellow">{t.matchesMost}</Warning>}
      {samples.length > 0 && (
        <>
          <Text fz="sm" c="dimmed">
            {t.lastDays(days)}
          </Text>
          <Samples samples={samples} draft={draft} />
        </>
      )}
    </Stack>
  )
}

interface BandProps {
  points: readonly BandPoint[]
  /** Intervals in which the rule would have fired. */
  bad: readonly Span[]
  special: AlertBacktest['specialPeriods']
  summary: string
  /** Domains whose changes are marked; empty: all. */
  domainIds: readonly string[]
}

/** The counts evaluated by the rule, with the expected range. */
function Band({ points, bad, special, summary, domainIds: [domainId] }: BandProps) {
  const query = { limit: MAX_CHANGES, ...(domainId && { domainId }) }
  const { data } = useQuery({ ...listChangesOptions({ query }), staleTime: STALE_MS.insight })
  const t = messages.alert
  return (
    <BandChart
      title={t.bandTitle}
      isTitleHidden
      summary={summary}
      points={points}
      bad={bad}
      special={special}
      changes={data?.changes ?? []}
      unit={t.bandUnit(t.bandIntervals[stepOf(points) / MINUTE_MS] ?? '')}
      height={HEIGHT_PX}
    />
  )
}

const SHOWN = 8

/** The most recent matching events, or the intervals in which the rule would have fired. */
function Samples({ samples, draft }: { samples: readonly Sample[]; draft: Draft }) {
  const t = messages.alert
  const keys = (draft.conditions?.items ?? []).map(({ parameter }) => parameter).filter((key) => key !== '*')
  return (
    <SimpleTable
      name={t.samples}
      rows={samples.slice(0, SHOWN)}
      keyOf={(sample) => JSON.stringify(sample)}
      columns={[
        { head: t.time, cell: (sample) => <TimeAgo at={timeOf(sample)} /> },
        {
          head: t.where,
          cell: (sample) => (
            <div>
              <Data>{String(sample.summary ?? sourceOf(sample))}</Data>
              {keys.map((key) => (
                <div key={key}>
                  <Code>{key}</Code> <Data>{JSON.stringify(valueAt(sample, key))}</Data>
                </div>
              ))}
              <details>
                <Text component="summary" fz="xs" c="dimmed">
                  {t.fullEvent}
                </Text>
                <pre className={classes.sample} translate="no">
                  {JSON.stringify(sample, null, 2)}
                </pre>
              </details>
            </div>
          ),
        },
      ]}
    />
  )
}
