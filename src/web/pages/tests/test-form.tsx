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
import { useState } from 'react'
import { listDomainsOptions } from '#client/@tanstack/react-query.gen'
import { createFlowTest, replaceFlowTest } from '#client/sdk.gen'
import type { FlowDraft, FlowTest, FlowTestInput } from '#client/types.gen'
import { SEVERITIES } from '../../../contract/severities.ts'
import { invalidate } from '../../api/queries.ts'
import { dataOption } from '../../components/data-text.tsx'
import { Form } from '../../components/form.tsx'
import { type Fields, useFormFields } from '../../components/use-form-fields.ts'
import { useNavigateIfMounted } from '../../components/use-is-mounted.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { DraftFrom } from './draft-test-from-traffic.tsx'
import { Expectations } from './expectations.tsx'
import { enteredSecrets, SecretsFields } from './secrets-fields.tsx'

const MAX_RETRIES = 3

/** The values of the form; text fields are never null. */
type Draft = Omit<FlowTestInput, 'secrets'> & {
  domainId: string | null
  startUrl: string
  schedule: string
  /** Entered values by name. */
  secrets: Record<string, string>
  secretHosts: string[]
}

/** An empty new test. */
const EMPTY: Draft = {
  name: '',
  domainId: null,
  recording: { title: '', steps: [] },
  startUrl: '',
  expectations: [],
  secrets: {},
  secretHosts: [],
  device: 'desktop',
  consent: { mode: 'none' },
  vendorRequests: 'answer',
  schedule: '',
  runOnChange: false,
  enabled: true,
  retries: 0,
  severity: 'high',
}

/**
 * The values of a saved test. Fields outside the form (channels, variables) and secrets that are not re-entered are
 * retained.
 */
function draftOf(test: FlowTest): Draft {
  const { id, orgId, versionId, version, status, healing, createdAt, updatedAt, secrets: _, ...input } = test
  return { ...input, secrets: {}, startUrl: input.startUrl ?? '', schedule: input.schedule ?? '' }
}

/** Creates or edits a test. */
export function TestForm({ test }: { test: FlowTest | null }) {
  const [recording, setRecording] = useState(test ? JSON.stringify(test.recording, null, 2) : '')
  const goOn = useNavigateIfMounted()
  const t = messages.tests
  const fields = useFormFields<Draft>(
    test ? draftOf(test) : EMPTY,
    async ({ startUrl, schedule, secrets, ...given }) => {
      const texts = { startUrl: startUrl || null, schedule: schedule || null }
      const typed = enteredSecrets(test, secrets)
      const body = { ...given, ...texts, ...(typed && { secrets: typed }), recording: parsed(recording) }
      const { data } = test ? await replaceFlowTest({ path: { id: test.id }, body }) : await createFlowTest({ body })
      await invalidate('listFlowTests', 'getFlowTest')
      set({ secrets: {} })
      notices.say(t.saved)
      if (!test) await goOn({ to: '/tests/$id', params: { id: data.id } })
    },
  )
  const { values, set, field, sending } = fields
  const begin = ({ recording, expectations }: FlowDraft) => {
    setRecording(JSON.stringify(recording, null, 2))
    set((before) => ({ expectations, name: before.name || recording.title }))
  }
  const steps = stepsOf(recording)
  return (
    <Form submission={sending} button={test ? t.save : t.create} isWide>
      <Stack gap="md" maw={640}>
        <TextInput label={t.name} {...field('name')} required maxLength={200} />
        <DomainField {...field('domainId')} />
        <RecordingField text={recording} change={setRecording} error={sending.errorOf('recording')} />
        {test === null && <DraftFrom begin={begin} />}
        <TextInput label={t.startUrl} description={t.startUrlHint} {...field('startUrl')} />
        <SecretsFields
          test={test}
          recording={recording}
          errorOf={sending.errorOf}
          entered={values.secrets}
          enter={(secrets) => set({ secrets })}
          hosts={values.secretHosts}
          setHosts={(secretHosts) => set({ secretHosts })}
        />
      </Stack>
      <Expectations
        expectations={values.expectations ?? []}
        steps={steps}
        change={(expectations) => set({ expectations })}
        error={sending.errorOf('expectations')}
      />
      <Stack gap="md" maw={640}>
        <RunFields fields={fields} />
      </Stack>
    </Form>
  )
}

/** Schedule, device, retries and identity of the runs. */
function RunFields({ fields: { values, set, field, check, sending } }: { fields: Fields<Draft> }) {
  const t = messages.tests
  const devices = Object.entries(t.devices).map(([value, label]) => ({ value, label }))
  const isOwnSize = typeof values.device === 'object'
  return (
    <>
      <TextInput label={t.cron} description={t.cronHint} {...field('schedule')} />
      <Group gap="lg">
        <Switch label={t.runOnChange} {...check('runOnChange')} />
        <Switch label={t.enabled} {...check('enabled')} />
      </Group>
      <NativeSelect
        label={t.device}
        value={typeof values.device === 'object' ? 'own' : values.device}
        onChange={({ currentTarget }) => set({ device: currentTarget.value as 'desktop' | 'mobile' })}
        data={isOwnSize ? [...devices, { value: 'own', label: t.customSize }] : devices}
        error={sending.errorOf('device')}
      />
      <NativeSelect
        label={t.consent}
        value={values.consent?.mode}
        onChange={({ currentTarget }) =>
          set({ consent: { ...values.consent, mode: currentTarget.value as 'none' | 'accept' | 'deny' } })
        }
        data={(['none', 'accept', 'deny'] as const).map((value) => ({ value, label: t.consents[value] }))}
        error={sending.errorOf('consent')}
      />
      <NativeSelect
        label={t.vendorRequests}
        {...field('vendorRequests')}
        data={Object.entries(t.vendorRequestModes).map(([value, label]) => ({ value, label }))}
      />
      <NumberInput label={t.retries} {...field('retries')} min={0} max={MAX_RETRIES} allowDecimal={false} />
      <NativeSelect
        label={t.severity}
        {...field('severity')}
        data={SEVERITIES.map((value) => ({ value, label: messages.displayNames.severities[value] }))}
      />
    </>
  )
}

interface DomainFieldProps {
  value: string | null
  onChange(id: string | null): void
  error: string | undefined
}

/** The domain whose rules apply to the captured events. */
export function DomainField({ value, onChange, error }: DomainFieldProps) {
  const { data } = useQuery(listDomainsOptions({ query: { limit: 200 } }))
  const none = { value: '', label: messages.tests.noDomain }
  return (
    <NativeSelect
      label={messages.tests.domain}
      value={value ?? ''}
      onChange={({ currentTarget }) => onChange(currentTarget.value || null)}
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
  const t = messages.tests
  return (
    <Stack gap="sm">
      <JsonInput
        label={t.recording}
        description={t.recordingHint}
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
            {t.chooseFile}
          </Button>
        )}
      </FileButton>
    </Stack>
  )
}

/** Parses the recording. Invalid JSON is sent unchanged, and the server's error is shown at the field. */
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
