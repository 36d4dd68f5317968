import { Alert, Button, Group, JsonInput, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { sharedQueries } from '../../../api/queries.ts'
import { Data } from '../../../components/data-text.tsx'
import type { FormSchema } from '../../../components/form-schema.ts'
import { messages } from '../../../messages.ts'
import { notices } from '../../../state/notices.ts'
import {
  deleteStep,
  duplicateStep,
  type EditedRecording,
  insertStep,
  moveStep,
  readRecording,
  recordingOf,
  replaceStep,
  restoreStep,
  type Walk,
} from './recorded-steps.ts'
import classes from './recording-editor.module.css'
import { type StepActs, StepRow } from './step-row.tsx'

interface RecordingEditorProps {
  walk: Walk
  /** Updates the steps and the expectations together. */
  change(update: (walk: Walk) => Walk): void
  /** Invalid JSON, which is kept until it is fixed or discarded; null if there is none. */
  brokenJson: string | null
  setBrokenJson(text: string | null): void
  /** Adds an expected tag for a step. */
  expectTag(step: number): void
  /** Returns the error of a field, such as `recording.steps[2].selectors`. */
  errorOf(path: string): string | undefined
}

/** Paths of the recording's fields in error messages, the deepest first. */
export function recordingPaths({ steps }: EditedRecording): string[] {
  const own = steps.flatMap(({ step }, index) =>
    [...new Set([...Object.keys(step), ...REQUIRED])].map((name) => `recording.steps[${index}].${name}`),
  )
  return [...own, ...steps.map((_, index) => `recording.steps[${index}]`), 'recording.steps', 'recording']
}
/** Required fields of steps, which may be missing. */
const REQUIRED = [
  'type',
  'url',
  'selectors',
  'value',
  'key',
  'expression',
  'width',
  'height',
  'download',
  'upload',
  'latency',
]

/** The steps of a test as a list, or the recording as JSON. */
export function RecordingEditor(props: RecordingEditorProps) {
  const { walk, brokenJson, setBrokenJson, errorOf } = props
  const [isChosen, choose] = useState(false)
  const isRefused = errorOf('recording') !== undefined
  const isJson = isChosen || isRefused
  const t = messages.tests
  return (
    <section>
      <Group justify="space-between" mb="sm">
        <Title order={3}>{t.steps}</Title>
        <SegmentedControl
          size="xs"
          aria-label={t.editor.view}
          value={isJson ? 'json' : 'steps'}
          onChange={(view) => choose(view === 'json')}
          data={[
            { value: 'steps', label: t.steps },
            { value: 'json', label: t.editor.json },
          ]}
        />
      </Group>
      {isJson && <JsonView {...props} />}
      {!isJson && brokenJson !== null && (
        <Alert color="yellow" variant="light" role="status">
          <Stack gap="sm" align="flex-start">
            {t.editor.brokenJson}
            <Button variant="default" size="compact-sm" onClick={() => setBrokenJson(null)}>
              {t.editor.discardJson}
            </Button>
          </Stack>
        </Alert>
      )}
      {!isJson && brokenJson === null && <StepList {...props} />}
      {walk.recording.steps.length === 0 && !isJson && brokenJson === null && (
        <Text c="dimmed" mt="sm">
          {t.editor.noSteps}
        </Text>
      )}
    </section>
  )
}

function JsonView({ walk, change, brokenJson, setBrokenJson, errorOf }: RecordingEditorProps) {
  // While the field is edited, its text is kept as typed.
  const [typed, type] = useState<string | null>(null)
  const t = messages.tests
  const error = brokenJson === null ? errorOf('recording') : jsonFault(brokenJson)
  const text = brokenJson ?? typed ?? JSON.stringify(recordingOf(walk.recording, ''), null, 2)
  const edit = (next: string) => {
    const { recording } = readRecording(next)
    type(next)
    setBrokenJson(recording ? null : next)
    if (recording) change(({ expectations }) => ({ recording, expectations }))
  }
  return (
    <JsonInput
      label={t.recording}
      description={t.recordingHint}
      value={text}
      onChange={edit}
      error={error}
      validationError={error}
      autosize
      minRows={4}
      maxRows={24}
      ff="monospace"
      translate="no"
    />
  )
}

/** Why the JSON is not a recording; undefined if it is one. */
export function jsonFault(text: string): string | undefined {
  const t = messages.tests.editor
  const read = readRecording(text)
  if (read.recording) return undefined
  return read.fault === null ? t.noStepList : t.invalidJson(read.fault.line, read.fault.column)
}

function StepList({ walk, change, expectTag, errorOf }: RecordingEditorProps) {
  const { data: forms } = useQuery(sharedQueries.forms())
  const list = useRef<HTMLOListElement>(null)
  const [dragged, drag] = useState<number | null>(null)
  const [announcement, announce] = useState('')
  const t = messages.tests.editor
  const { steps } = walk.recording
  const focusStep = (key: number, part: string) =>
    // The row is rendered or moved first.
    requestAnimationFrame(() =>
      list.current?.querySelector<HTMLElement>(`[data-step="${key}"] [data-part="${part}"]`)?.focus(),
    )
  const insert = (at: number) => {
    change((walk) => {
      const next = insertStep(walk, at, { type: walk.recording.steps.length === 0 ? 'navigate' : 'click' })
      focusStep(next.recording.steps[at]?.key ?? 0, 'action')
      return next
    })
  }
  const move = (from: number, to: number, part: string | null) => {
    if (to < 0 || to >= steps.length) return
    change((walk) => moveStep(walk, from, to))
    announce(t.moved(from + 1, to + 1))
    if (part) focusStep(steps[from]?.key ?? 0, part)
  }
  const remove = (at: number) => {
    const removed = steps[at]
    const expected = walk.expectations.filter(({ step }) => step === at)
    change((walk) => deleteStep(walk, at))
    const next = steps[at + 1] ?? steps[at - 1]
    if (next) focusStep(next.key, 'action')
    notices.say(
      t.deleted(at + 1, expected.length),
      removed ? () => change((walk) => restoreStep(walk, at, removed, expected)) : null,
    )
  }
  const acts: StepActs = {
    edit: (at, step) => change((walk) => replaceStep(walk, at, step)),
    insert,
    duplicate: (at) => change((walk) => duplicateStep(walk, at)),
    move,
    remove,
    expectTag,
    drag,
    drop: (at) => {
      if (dragged !== null && dragged !== at) move(dragged, at, null)
      drag(null)
    },
  }
  return (
    <Stack gap="sm" align="flex-start">
      {errorOf('recording.steps') && (
        <Text role="alert" c="var(--tw-critical-text)">
          <Data>{errorOf('recording.steps')}</Data>
        </Text>
      )}
      {steps.length > 0 && (
        <ol ref={list} className={classes.list} aria-label={messages.tests.steps}>
          {steps.map(({ key, step }, index) => (
            <StepRow
              key={key}
              stepKey={key}
              index={index}
              count={steps.length}
              step={step}
              forms={forms?.flowSteps ?? []}
              schema={(forms?.flowSteps.find(({ kind }) => kind === step.type)?.schema ?? {}) as FormSchema}
              expected={walk.expectations.filter((one) => one.step === index)}
              acts={acts}
              isDragged={dragged === index}
              errorOf={(name) => errorOf(`recording.steps[${index}]${name && `.${name}`}`)}
            />
          ))}
        </ol>
      )}
      <Button variant="default" onClick={() => insert(steps.length)}>
        {t.add}
      </Button>
      <div className="heard" role="status">
        {announcement}
      </div>
    </Stack>
  )
}
