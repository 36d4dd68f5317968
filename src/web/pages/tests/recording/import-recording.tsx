import { Button, FileButton, Group, List, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type DragEvent, type ReactNode, useEffect, useState } from 'react'
import { draftFlowTest } from '#client/sdk.gen'
import type { FlowDraft, FlowDraftInput } from '#client/types.gen'
import { Data } from '../../../components/data-text.tsx'
import { useSubmit } from '../../../components/form.tsx'
import { messages } from '../../../messages.ts'
import { notices } from '../../../state/notices.ts'
import { useSearchParams } from '../../../url-state/use-search-params.ts'
import { NEW_TEST } from '../queries.ts'
import { jsonFaultPosition } from './json-fault.ts'
import classes from './recording-editor.module.css'

/** Maximum number of listed requests without a body. */
const SHOWN_REQUESTS = 5

interface ImportRecordingProps {
  /** Replaces the steps. Returns a function that restores the previous ones; null if there were none. */
  begin(draft: FlowDraft): (() => void) | null
  /** True for a new test, which can also be drafted from a visitor's session. */
  isNew: boolean
}

/**
 * Imports the steps of a test: a recording that is pasted, dropped or chosen as a file, a HAR file, or a visitor's
 * session. Lists what was left out.
 */
export function ImportRecording({ begin, isNew }: ImportRecordingProps) {
  const [{ sessionId: named }] = useSearchParams(NEW_TEST)
  const [sessionId, setSessionId] = useState(named)
  const [pasted, paste] = useState('')
  const [file, choose] = useState<File | null>(null)
  const [isOver, over] = useState(false)
  const [left, setLeft] = useState<Pick<FlowDraft, 'missingBodies' | 'skippedSteps'> | null>(null)
  const t = messages.tests.draft
  const take = async (body: FlowDraftInput) => {
    setLeft(null)
    const { data: draft } = await draftFlowTest({ body })
    const undo = begin(draft)
    setLeft(draft)
    paste('')
    const { recording, expectations } = draft
    notices.say(
      body.recording ? t.imported(recording.steps.length) : t.created(recording.steps.length, expectations.length),
      undo,
    )
  }
  const ofSession = useSubmit(['sessionId'], () => take({ sessionId }))
  const ofText = useSubmit([], () => take(bodyOfText(pasted)))
  const ofFile = useSubmit([], async () => {
    if (file) await take(await bodyOf(file))
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once for the session in the URL
  useEffect(() => {
    if (named && isNew) ofSession.submit()
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per file
  useEffect(() => {
    if (file) ofFile.submit()
  }, [file])
  const drag = (isHere: boolean) => (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    over(isHere)
  }
  const refusal = ofText.refusal ?? ofFile.refusal ?? ofSession.refusal
  return (
    <fieldset
      className={`plain ${classes.drop}`}
      data-over={isOver || undefined}
      aria-label={t.title}
      onDragEnter={drag(true)}
      onDragOver={drag(true)}
      onDragLeave={drag(false)}
      onDrop={(event) => {
        drag(false)(event)
        const [dropped] = event.dataTransfer.files
        if (dropped) choose(dropped)
      }}
    >
      <Stack gap="sm">
        <Textarea
          label={t.paste}
          description={t.pasteHint}
          value={pasted}
          onChange={({ currentTarget }) => paste(currentTarget.value)}
          minRows={2}
          maxRows={8}
          autosize
          ff="monospace"
          translate="no"
        />
        <Refusal>{refusal}</Refusal>
        <Group gap="sm">
          <Button
            variant="default"
            disabled={pasted.trim() === ''}
            loading={ofText.isSending}
            onClick={() => ofText.submit()}
          >
            {t.import}
          </Button>
          <FileButton accept=".json,.har,.zip,application/json,application/zip" onChange={choose}>
            {(props) => (
              <Button {...props} variant="default" loading={ofFile.isSending}>
                {messages.tests.chooseFile}
              </Button>
            )}
          </FileButton>
          <Text fz="sm" c="dimmed">
            {t.drop}
          </Text>
        </Group>
        {isNew && (
          <Group gap="sm" align="flex-end">
            <TextInput
              label={t.session}
              description={t.hint}
              flex="1 1 240px"
              value={sessionId}
              onChange={({ currentTarget }) => setSessionId(currentTarget.value)}
              error={ofSession.errorOf('sessionId')}
              maxLength={200}
              translate="no"
            />
            <Button
              variant="default"
              disabled={sessionId === ''}
              loading={ofSession.isSending}
              onClick={() => ofSession.submit()}
            >
              {t.fromSession}
            </Button>
          </Group>
        )}
        {left && <LeftOut {...left} />}
      </Stack>
    </fieldset>
  )
}

function Refusal({ children }: { children: string | null }) {
  return children === null ? null : (
    <Text role="alert" c="var(--tw-critical-text)" fz="sm">
      <Data>{children}</Data>
    </Text>
  )
}

/** The steps and requests that could not be imported. */
function LeftOut({ missingBodies, skippedSteps }: Pick<FlowDraft, 'missingBodies' | 'skippedSteps'>) {
  const t = messages.tests.draft
  return (
    <>
      {skippedSteps.length > 0 && (
        <Listed title={t.skipped(skippedSteps.length)}>
          {skippedSteps.map(({ step, type, reason }) => (
            <List.Item key={step}>
              {t.skippedStep(step + 1)} <Data>{type ? `${type}: ${reason}` : reason}</Data>
            </List.Item>
          ))}
        </Listed>
      )}
      {missingBodies.length > 0 && (
        <Listed title={t.missing(missingBodies.length)}>
          {missingBodies.slice(0, SHOWN_REQUESTS).map(({ entry, host, reason }) => (
            <List.Item key={entry}>
              <Data>{`${host}: ${reason}`}</Data>
            </List.Item>
          ))}
        </Listed>
      )}
    </>
  )
}

const Listed = ({ title, children }: { title: string; children: ReactNode }) => (
  <Stack gap={4} role="status">
    <Text fz="sm">{title}</Text>
    <List size="sm" withPadding>
      {children}
    </List>
  </Stack>
)

/**
 * The request body for a pasted recording or HAR.
 * @throws an error that says what is wrong with the text
 */
function bodyOfText(text: string): FlowDraftInput {
  const t = messages.tests.draft
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The Recorder also exports code.
    if (/\b(?:require\(|import\s|await\s|cy\.)/.test(text)) throw new Error(t.isCode)
    const { line, column } = jsonFaultPosition(text) ?? { line: 1, column: 1 }
    throw new Error(t.notJson(line, column))
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject) throw new Error(t.noRecording)
  return 'log' in (value as object) ? { har: value as never } : { recording: value as never }
}

/** The request body for a file: a recording, a HAR, or an archive that contains a HAR. */
async function bodyOf(file: File): Promise<FlowDraftInput> {
  if ((await file.slice(0, 2).text()) === 'PK') return { harZip: await base64Of(file) }
  return bodyOfText(await file.text())
}

function base64Of(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(file)
  return promise
}
