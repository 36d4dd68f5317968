import { SegmentedControl, Stack, Text, Alert as Warning } from '@mantine/core'
import { useState } from 'react'
import type { AlertBacktest, AlertPreview, Form } from '#client/types.gen'
import { Refusal } from '../../../api/refusal.ts'
import { Bars } from '../../../charts/bars.tsx'
import { Card } from '../../../parts/card.tsx'
import { Data } from '../../../parts/data.tsx'
import { formatNumber } from '../../../parts/format.ts'
import { Lines, Refused } from '../../../parts/query-state.tsx'
import { Prose } from '../../../parts/schema-form.tsx'
import { words } from '../../../words.ts'
import { type Draft, hasConditions, missingOf } from './draft.ts'
import classes from './editor.module.css'
import { barsOf, firedIn, perWeek } from './past.ts'
import { Samples } from './samples.tsx'
import { Sensitivity, sensitivityPlace } from './sensitivity.tsx'
import { type Days, PAST_DAYS, PREVIEW_HOURS, type Tried, useTrial } from './trial.ts'

/** A rule that would have told of more than so many troubles a week is noise. */
const NOISE_PER_WEEK = 40

interface PastProps {
  draft: Draft
  form: Form | undefined
  /** Takes a changed rule; null for who may not change it. */
  change: ((draft: Draft) => void) | null
}

/** What the rule would have found and told; asked anew while one writes, and the old answer stays until then. */
export function Past({ draft, form, change }: PastProps) {
  const [days, setDays] = useState<Days>(14)
  const missing = missingOf(draft, form)
  const { preview, backtest } = useTrial(draft, days, {
    hasSensitivity: sensitivityPlace(form) !== null,
    isWhole: missing === null,
  })
  const said = words.alert
  const isAsking = missing === null && (preview.isAsking || backtest.isAsking)
  return (
    <Card
      title={said.past}
      beside={
        <SegmentedControl
          size="xs"
          aria-label={said.days}
          value={String(days)}
          onChange={(chosen) => setDays(Number(chosen) as Days)}
          data={PAST_DAYS.map((value) => ({ value: String(value), label: said.daysOf(value) }))}
        />
      }
    >
      <div className={classes.progress} data-asking={isAsking || undefined} />
      {missing !== null && (
        <Text c="dimmed" role="status">
          {said.missing} {'title' in missing ? <Data>{missing.title}</Data> : said[missing.part](missing.n)}
        </Text>
      )}
      <Stack gap="md" aria-busy={isAsking}>
        <Answer of={backtest}>
          {(answer) => <Backtest answer={answer} days={days} draft={draft} form={form} change={change} />}
        </Answer>
        {/* The same refusal is not said twice. */}
        {!(backtest.error && preview.error) && (
          <Answer of={preview}>{(answer) => <Preview answer={answer} draft={draft} form={form} />}</Answer>
        )}
      </Stack>
    </Card>
  )
}

/** The answer, dimmed while it is of an older rule; what is missing, in the server's words, while the rule is not whole. */
function Answer<T>({ of, children }: { of: Tried<T>; children: (answer: T) => React.ReactNode }) {
  const { data, error, isOld, isAsking, retry } = of
  if (error instanceof Refusal && error.status === 400) {
    return (
      <Text c="dimmed" role="status">
        {words.alert.missing} <Prose text={error.message.replace(/^`?rule\./, '')} />
      </Text>
    )
  }
  if (error) return <Refused refusal={error} retry={retry} isAsking={isAsking} />
  if (data === undefined) return isAsking ? <Lines /> : null
  return <div className={isOld ? classes.asking : undefined}>{children(data)}</div>
}

function Backtest({ answer, days, draft, form, change }: PastProps & { answer: AlertBacktest; days: number }) {
  const { buckets, grain, method, coverage, exact, alternatives } = answer
  const fired = firedIn(buckets)
  const weekly = perWeek(fired, days)
  const said = words.alert
  const sentence = said.fired(fired, days)
  return (
    <Stack gap="sm">
      <Text fz="lg" fw={600} role="status">
        {sentence}
      </Text>
      {fired > 0 && <Text c="dimmed">{said.aboutAWeek(formatNumber(weekly, 1))}</Text>}
      {weekly > NOISE_PER_WEEK && <Warning color="yellow">{said.often}</Warning>}
      {buckets.length > 0 && (
        <Bars
          title={said.bars}
          isTitleHidden
          summary={sentence}
          unit={said.barsUnit[grain]}
          badWord={said.badWord}
          points={barsOf(buckets)}
          height={120}
        />
      )}
      {alternatives && <Sensitivity {...{ draft, form, change, alternatives, days }} />}
      <Text fz="xs" c="dimmed">
        {method === 'sampled' && coverage
          ? said.sampled(formatNumber(coverage.sampled, 0), formatNumber(coverage.total, 0))
          : method === 'rollup'
            ? said.rollup
            : said.exact}
        {!exact && method !== 'sampled' && ` ${said.partly}`}
      </Text>
    </Stack>
  )
}

function Preview({ answer, draft, form }: { answer: AlertPreview; draft: Draft; form: Form | undefined }) {
  const { matched, scanned, samples } = answer
  const said = words.alert
  const isByEvent = hasConditions(form)
  const [found, all] = [formatNumber(matched, 0), formatNumber(scanned, 0)]
  return (
    <Stack gap="sm">
      <div>
        <Text fw={600} role="status">
          {isByEvent ? said.matches(found, all) : said.found(found, all)}
        </Text>
        <Text fz="sm" c="dimmed">
          {said.lastHours(PREVIEW_HOURS)}
        </Text>
      </div>
      {scanned === 0 && <Warning color="yellow">{said.nothingInScope}</Warning>}
      {isByEvent && matched > scanned / 2 && <Warning color="yellow">{said.matchesMost}</Warning>}
      {samples.length > 0 && <Samples samples={samples} draft={draft} />}
    </Stack>
  )
}
