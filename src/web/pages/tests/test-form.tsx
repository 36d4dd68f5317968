import {
  Button,
  FileButton,
  Group,
  JsonInput,
  NativeSelect,
  NumberInput,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { listDomainsOptions } from '#client/@tanstack/react-query.gen'
import { createFlowTest, replaceFlowTest } from '#client/sdk.gen'
import type { FlowDraft, FlowTest, FlowTestInput } from '#client/types.gen'
import { queries } from '../../api/queries.ts'
import { dataOption } from '../../parts/data.tsx'
import { Form, useSending } from '../../parts/form.tsx'
import { notices } from '../../shell/notices.ts'
import { words } from '../../words.ts'
import { DraftFrom } from './draft-from.tsx'
import { Expectations } from './expectations.tsx'

const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
const MOST_RETRIES = 3

/** A new test as it is before anything is typed. */
const EMPTY: FlowTestInput = {
  name: '',
  domainId: null,
  recording: { title: '', steps: [] },
  expectations: [],
  device: 'desktop',
  consent: { mode: 'none' },
  vendorRequests: 'answer',
  schedule: null,
  runOnChange: false,
  enabled: true,
  retries: 0,
  severity: 'high',
}

/** The fields of a test; what is not among them (channels, variables, secrets) stays as it is. */
function inputOf(test: FlowTest): FlowTestInput {
  const { id, orgId, versionId, version, status, healing, createdAt, updatedAt, secrets, ...input } = test
  return input
}

/** Makes a test, or changes it. */
export function TestForm({ test }: { test: FlowTest | null }) {
  const [given, change] = useState<FlowTestInput>(test ? inputOf(test) : EMPTY)
  const [recording, setRecording] = useState(test ? JSON.stringify(test.recording, null, 2) : '')
  const navigate = useNavigate()
  const set = (part: Partial<FlowTestInput>) => change((before) => ({ ...before, ...part }))
  const said = words.tests
  const sending = useSending(FIELDS, async () => {
    const body = { ...given, recording: parsed(recording) }
    const { data } = test
      ? await replaceFlowTest({ path: { id: test.id }, body, throwOnError: true })
      : await createFlowTest({ body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listFlowTests' }] })
    await queries.invalidateQueries({ queryKey: [{ _id: 'getFlowTest' }] })
    notices.say(said.saved)
    if (!test) await navigate({ to: '/tests/$id', params: { id: data.id } })
  })
  const { errorOf } = sending
  const begin = ({ recording, expectations }: FlowDraft) => {
    setRecording(JSON.stringify(recording, null, 2))
    change((before) => ({ ...before, expectations, name: before.name || recording.title }))
  }
  const steps = stepsOf(recording)
  return (
    <Form sending={sending} button={test ? said.save : said.create} isWide>
      <Stack gap="md" maw={640}>
        <TextInput
          label={said.name}
          value={given.name}
          onChange={({ currentTarget }) => set({ name: currentTarget.value })}
          error={errorOf('name')}
          required
          maxLength={200}
        />
        <DomainField
          value={given.domainId ?? null}
          change={(domainId) => set({ domainId })}
          error={errorOf('domainId')}
        />
        <RecordingField text={recording} change={setRecording} error={errorOf('recording')} />
        {test === null && <DraftFrom begin={begin} />}
        <TextInput
          label={said.startUrl}
          description={said.startUrlHint}
          value={given.startUrl ?? ''}
          onChange={({ currentTarget }) => set({ startUrl: currentTarget.value || null })}
          error={errorOf('startUrl')}
        />
      </Stack>
      <Expectations
        expectations={given.expectations ?? []}
        steps={steps}
        change={(expectations) => set({ expectations })}
        error={errorOf('expectations')}
      />
      <Stack gap="md" maw={640}>
        <RunFields given={given} set={set} errorOf={errorOf} />
      </Stack>
    </Form>
  )
}

const FIELDS = [
  ...['name', 'domainId', 'recording', 'startUrl', 'expectations', 'schedule', 'timezone', 'retries', 'device'],
  ...['consent', 'vendorRequests', 'severity'],
]

interface RunFieldsProps {
  given: FlowTestInput
  set(part: Partial<FlowTestInput>): void
  errorOf(field: string): string | undefined
}

/** When and as whom it runs. */
function RunFields({ given, set, errorOf }: RunFieldsProps) {
  const said = words.tests
  const devices = Object.entries(said.devices).map(([value, label]) => ({ value, label }))
  const isOwnSize = typeof given.device === 'object'
  return (
    <>
      <TextInput
        label={said.cron}
        description={said.cronHint}
        value={given.schedule ?? ''}
        onChange={({ currentTarget }) => set({ schedule: currentTarget.value || null })}
        error={errorOf('schedule')}
      />
      <Group gap="lg">
        <Switch
          label={said.runOnChange}
          checked={given.runOnChange ?? false}
          onChange={({ currentTarget }) => set({ runOnChange: currentTarget.checked })}
        />
        <Switch
          label={said.enabled}
          checked={given.enabled ?? true}
          onChange={({ currentTarget }) => set({ enabled: currentTarget.checked })}
        />
      </Group>
      <NativeSelect
        label={said.device}
        value={typeof given.device === 'object' ? 'own' : given.device}
        onChange={({ currentTarget }) => set({ device: currentTarget.value as 'desktop' | 'mobile' })}
        data={isOwnSize ? [...devices, { value: 'own', label: said.ownSize }] : devices}
        error={errorOf('device')}
      />
      <NativeSelect
        label={said.consent}
        value={given.consent?.mode}
        onChange={({ currentTarget }) =>
          set({ consent: { ...given.consent, mode: currentTarget.value as 'none' | 'accept' | 'deny' } })
        }
        data={(['none', 'accept', 'deny'] as const).map((value) => ({ value, label: said.consents[value] }))}
        error={errorOf('consent')}
      />
      <NativeSelect
        label={said.vendorRequests}
        value={given.vendorRequests}
        onChange={({ currentTarget }) => set({ vendorRequests: currentTarget.value as 'answer' | 'send' })}
        data={Object.entries(said.vendorRequestsOf).map(([value, label]) => ({ value, label }))}
        error={errorOf('vendorRequests')}
      />
      <NumberInput
        label={said.retries}
        value={given.retries}
        onChange={(value) => set({ retries: Number(value) })}
        min={0}
        max={MOST_RETRIES}
        allowDecimal={false}
        error={errorOf('retries')}
      />
      <NativeSelect
        label={said.severity}
        value={given.severity}
        onChange={({ currentTarget }) => set({ severity: currentTarget.value as (typeof SEVERITIES)[number] })}
        data={SEVERITIES.map((value) => ({ value, label: words.api.severities[value] }))}
        error={errorOf('severity')}
      />
    </>
  )
}

interface DomainFieldProps {
  value: string | null
  change(id: string | null): void
  error: string | undefined
}

/** The domain whose rules hold for what tags send. */
export function DomainField({ value, change, error }: DomainFieldProps) {
  const { data } = useQuery(listDomainsOptions({ query: { limit: 200 } }))
  const none = { value: '', label: words.tests.noDomain }
  return (
    <NativeSelect
      label={words.tests.domain}
      value={value ?? ''}
      onChange={({ currentTarget }) => change(currentTarget.value || null)}
      data={[none, ...(data?.domains ?? []).map(({ id, name }) => dataOption(id, name))]}
      error={error}
    />
  )
}

interface RecordingFieldProps {
  text: string
  change(text: string): void
  error: string | undefined
}

function RecordingField({ text, change, error }: RecordingFieldProps) {
  const said = words.tests
  return (
    <Stack gap="sm">
      <JsonInput
        label={said.recording}
        description={said.recordingHint}
        value={text}
        onChange={change}
        error={error}
        autosize
        minRows={4}
        maxRows={16}
        required
        ff="monospace"
        translate="no"
      />
      <FileButton accept="application/json,.json" onChange={(file) => void file?.text().then(change)}>
        {(props) => (
          <Button {...props} variant="default" w="fit-content">
            {said.chooseFile}
          </Button>
        )}
      </FileButton>
    </Stack>
  )
}

/** Text that is no JSON is sent as it is: the server says what is wrong with it, at its field. */
function parsed(text: string): FlowTestInput['recording'] {
  try {
    return JSON.parse(text)
  } catch {
    return text as never
  }
}

function stepsOf(text: string): readonly string[] {
  const { steps } = parsed(text)
  return Array.isArray(steps) ? steps.map(({ type }, index) => `${index + 1} ${type}`) : []
}
