import { Modal, Skeleton, Text, UnstyledButton } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { RunDetail } from '#client/types.gen'
import { ApiImage } from '../../../components/api-image.tsx'
import { Code, Data, Dot } from '../../../components/data-text.tsx'
import { Duration, Num } from '../../../components/numbers.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { StatusMark } from '../../../components/status-mark.tsx'
import { messages } from '../../../messages.ts'
import { STEP_MARKS } from '../status-marks.ts'
import classes from './steps.module.css'

type Step = RunDetail['steps'][number]
type SentEvent = RunDetail['events'][number]

const screenshotPath = (runId: string, { index }: Step) => `/v1/flows/runs/${runId}/steps/${index}/screenshot`

/** The steps of a run: what was done, the screenshot, the requests, and the expectations that were not met. */
export function Steps({ run: { id, steps, events, findings } }: { run: RunDetail }) {
  const [opened, open] = useState<Step | null>(null)
  const t = messages.tests
  const isPictured = steps.some(({ screenshot }) => screenshot)
  return (
    <>
      <SimpleTable
        name={t.steps}
        rows={steps}
        keyOf={({ index }) => String(index)}
        columns={[
          { head: t.step, isNumber: true, cell: ({ index }) => <Num value={index + 1} /> },
          {
            head: t.name,
            cell: (step) => <What step={step} findings={findings.filter((finding) => finding.step === step.index)} />,
          },
          {
            head: t.stepStatus,
            cell: ({ status }) => <StatusMark status={STEP_MARKS[status]} word={t.stepStatuses[status]} />,
          },
          { head: t.duration, isNumber: true, cell: ({ durationMs }) => <Duration ms={durationMs} /> },
          ...(isPictured
            ? [
                {
                  head: t.screenshot,
                  cell: (step: Step) => step.screenshot && <Thumbnail runId={id} step={step} open={() => open(step)} />,
                },
              ]
            : []),
          {
            head: t.requests,
            cell: (step) => <Requests events={events.filter((event) => event.step === step.index)} />,
          },
        ]}
      />
      <Modal
        opened={opened !== null}
        onClose={() => open(null)}
        title={opened && <Data>{opened.title}</Data>}
        size="auto"
        closeButtonProps={{ 'aria-label': messages.shell.close }}
      >
        {opened && <ApiImage path={screenshotPath(id, opened)} name={t.screenshotOf(opened.title)} />}
      </Modal>
    </>
  )
}

/** The title of a step, its error and its unmet expectations. */
function What({ step: { title, error, healed }, findings }: { step: Step; findings: RunDetail['findings'] }) {
  const t = messages.tests
  // The error of a failed step is also one of its findings.
  const others = findings.filter(({ kind }) => kind !== 'step_failed' || error === null)
  return (
    <div className={classes.what}>
      <Data>{title}</Data>
      {error !== null && (
        <div className="under">
          <Data>{error}</Data>
        </div>
      )}
      {healed && (
        <div className="under">
          <Data>{t.healedFrom(healed.before, healed.after)}</Data>
        </div>
      )}
      {others.map(({ kind, vendor, event, sentence, expected, observed }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: findings are identified only by their index
        <div key={index} className={classes.finding}>
          <StatusMark status="failed" word={t.kinds[kind]} />
          <Text fz="sm" fw={400}>
            <Data>{[vendor, event].filter(Boolean).join(' ') || sentence}</Data>
            {expected !== null && expected !== [vendor, event].join(' ') && (
              <>
                <Dot />
                {t.expected} <Data>{expected}</Data>
              </>
            )}
            {observed !== null && (
              <>
                <Dot />
                {t.observed} <Data>{observed}</Data>
              </>
            )}
          </Text>
        </div>
      ))}
    </div>
  )
}

/** A small screenshot that opens the full one. It is loaded when it is scrolled into view. */
function Thumbnail({ runId, step, open }: { runId: string; step: Step; open(): void }) {
  const element = useRef<HTMLButtonElement>(null)
  const [isSeen, see] = useState(false)
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) see(true)
    })
    if (element.current) observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return (
    <UnstyledButton
      ref={element}
      className={classes.thumbnail}
      aria-label={messages.tests.openScreenshot(step.title)}
      onClick={open}
    >
      {isSeen ? <ApiImage path={screenshotPath(runId, step)} name="" /> : <Skeleton h={100} w={160} animate={false} />}
    </UnstyledButton>
  )
}

/** The vendor requests that a step caused. */
function Requests({ events }: { events: readonly SentEvent[] }) {
  const t = messages.tests
  if (events.length === 0) return <Text c="dimmed">{t.noRequests}</Text>
  return (
    <ul className={classes.requests}>
      {events.map((sent, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: events are identified only by their order
        <li key={index}>
          <Request sent={sent} />
        </li>
      ))}
    </ul>
  )
}

function Request({ sent: { vendor, event, account, params, status, answered } }: { sent: SentEvent }) {
  const t = messages.tests
  const values = Object.entries(params)
  const title = (
    <>
      <Data>{vendor}</Data> <Code>{event}</Code>
      <Dot />
      {answered ? t.blocked : <Num value={status} />}
    </>
  )
  if (values.length === 0 && account === null) return <div>{title}</div>
  return (
    <details>
      <summary>{title}</summary>
      <dl className="facts">
        {[...(account === null ? [] : [[t.account, account] as const]), ...values].map(([key, value]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>
              <Code>{key}</Code>
            </dt>
            <dd>
              <Data>{value}</Data>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
