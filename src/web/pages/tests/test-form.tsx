import { Group, NativeSelect, NumberInput, Stack, Switch, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listDomainsOptions } from '#client/@tanstack/react-query.gen'
import { createFlowTest, replaceFlowTest } from '#client/sdk.gen'
import type { FlowDraft, FlowTest, FlowTestInput, Forms } from '#client/types.gen'
import { SEVERITIES } from '../../../contract/severities.ts'
import { invalidate, sharedQueries } from '../../api/queries.ts'
import { ChannelRows } from '../../components/channel-rows.tsx'
import { Data, dataOption } from '../../components/data-text.tsx'
import { Form } from '../../components/form.tsx'
import { type Fields, useFormFields } from '../../components/use-form-fields.ts'
import { useNavigateIfMounted } from '../../components/use-is-mounted.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { Expectations } from './expectations.tsx'
import { ImportRecording } from './recording/import-recording.tsx'
import {
  type EditedRecording,
  EMPTY_RECORDING,
  editedRecording,
  recordingOf,
  type Walk,
} from './recording/recorded-steps.ts'
import { jsonFault, RecordingEditor, recordingPaths } from './recording/recording-editor.tsx'
import { ScheduleField } from './schedule/schedule-field.tsx'
import { enteredSecrets, SecretsFields } from './secrets-fields.tsx'

const MAX_RETRIES = 2

/** The values of the form; text fields are never null. */
type Draft = Omit<FlowTestInput, 'secrets' | 'recording' | 'expectations' | 'channels'> & {
  domainId: string | null
  recording: EditedRecording
  expectations: NonNullable<FlowTestInput['expectations']>
  channels: NonNullable<FlowTestInput['channels']>
  startUrl: string
  schedule: string
  /** Empty until it is known or chosen. */
  timezone: string
  /** Entered values by name. */
  secrets: Record<string, string>
  secretHosts: string[]
}

/** An empty new test. */
const EMPTY: Draft = {
  name: '',
  domainId: null,
  recording: EMPTY_RECORDING,
  startUrl: '',
  expectations: [],
  channels: [],
  secrets: {},
  secretHosts: [],
  device: 'desktop',
  consent: { mode: 'none' },
  vendorRequests: 'answer',
  schedule: '',
  timezone: '',
  runOnChange: false,
  enabled: true,
  retries: 0,
  severity: 'high',
}

/**
 * The values of a saved test. Fields outside the form (variables) and secrets that are not re-entered are retained.
 */
function draftOf(test: FlowTest): Draft {
  const { id, orgId, versionId, version, status, healing, createdAt, updatedAt, managedBy, secrets: _, ...input } = test
  return {
    ...input,
    recording: editedRecording(input.recording),
    secrets: {},
    startUrl: input.startUrl ?? '',
    schedule: input.schedule ?? '',
  }
}

/** The steps and expectations of the form's values. */
const walkOf = ({ recording = EMPTY_RECORDING, expectations = [] }: Partial<Draft>): Walk => ({
  recording,
  expectations,
})

/** Paths of the nested fields that show their own errors. */
const pathsOf = ({ recording, channels }: Draft) => [
  ...recordingPaths(recording),
  ...channels.flatMap((_, index) => [`channels[${index}].target`, `channels[${index}].type`]),
]

/** Fields without an input that could show an error. */
const WITHOUT_INPUT = ['variables', 'secrets', 'timeoutS', 'impactValue', 'channels']

/** Creates or edits a test. */
export function TestForm({ test }: { test: FlowTest | null }) {
  const [brokenJson, setBrokenJson] = useState<string | null>(null)
  // The number of expectations, when the last one was added for a step and gets the focus.
  const [focused, focus] = useState<number | null>(null)
  const [initial] = useState(() => (test ? draftOf(test) : EMPTY))
  const goOn = useNavigateIfMounted()
  const t = messages.tests
  const fields = useFormFields<Draft>(
    initial,
    async ({ startUrl, schedule, timezone, secrets, recording, ...given }) => {
      if (brokenJson !== null) throw new Error(`recording: ${jsonFault(brokenJson)}`)
      const texts = { startUrl: startUrl || null, schedule: schedule || null, ...(timezone && { timezone }) }
      const typed = enteredSecrets(test, secrets)
      const steps = recordingOf(recording, given.name)
      const body = { ...given, ...texts, ...(typed && { secrets: typed }), recording: steps }
      const { data } = test ? await replaceFlowTest({ path: { id: test.id }, body }) : await createFlowTest({ body })
      await invalidate('listFlowTests', 'getFlowTest')
      set({ secrets: {} })
      notices.say(t.saved)
      if (!test) await goOn({ to: '/tests/$id', params: { id: data.id } })
    },
    pathsOf,
  )
  const { values, set, field, sending } = fields
  const { recording, expectations } = values
  const begin = (draft: FlowDraft) => {
    const before = { recording, expectations }
    const steps = editedRecording(draft.recording)
    setBrokenJson(null)
    set((current) => ({
      recording: steps,
      expectations: draft.expectations,
      name: current.name || draft.recording.title,
    }))
    return before.recording.steps.length === 0 ? null : () => set(before)
  }
  const changeWalk = (update: (walk: Walk) => Walk) =>
    set((current) => {
      const next = update(walkOf(current))
      return { recording: next.recording, expectations: [...next.expectations] }
    })
  const expectTag = (step: number) => {
    set((current) => ({ expectations: [...walkOf(current).expectations, { step, min: 1 }] }))
    focus(expectations.length)
  }
  const { data: forms } = useQuery(sharedQueries.forms())
  const hiddenError = WITHOUT_INPUT.map(sending.errorOf).find((error) => error !== undefined)
  return (
    <Form submission={sending} button={test ? t.save : t.create} isWide>
      <Stack gap="md" maw={640}>
        <TextInput label={t.name} {...field('name')} required maxLength={200} />
        <DomainField {...field('domainId')} />
      </Stack>
      <ImportRecording begin={begin} isNew={test === null} />
      <RecordingEditor
        walk={{ recording, expectations }}
        change={changeWalk}
        brokenJson={brokenJson}
        setBrokenJson={setBrokenJson}
        expectTag={expectTag}
        errorOf={sending.errorOf}
      />
      <Stack gap="md" maw={640}>
        <TextInput label={t.startUrl} description={t.startUrlHint} {...field('startUrl')} />
        <SecretsFields
          test={test}
          recording={JSON.stringify(recordingOf(recording, ''))}
          errorOf={sending.errorOf}
          entered={values.secrets}
          enter={(secrets) => set({ secrets })}
          hosts={values.secretHosts}
          setHosts={(secretHosts) => set({ secretHosts })}
        />
      </Stack>
      <Expectations
        expectations={expectations}
        steps={recording.steps.map(({ step }, index) => stepLabel(index, step.type, forms))}
        change={(expectations) => set({ expectations })}
        focused={focused}
        error={sending.errorOf('expectations')}
      />
      <Stack gap="md" maw={640}>
        <RunFields fields={fields} />
      </Stack>
      {forms && (
        <Stack gap="md" component="section">
          <Title order={3}>{t.notifications}</Title>
          <ChannelRows
            channels={values.channels}
            change={(channels) => set({ channels })}
            forms={forms}
            path="channels"
            errorOf={sending.errorOf}
          />
        </Stack>
      )}
      {hiddenError && (
        <Text role="alert" c="var(--tw-critical-text)">
          <Data>{hiddenError}</Data>
        </Text>
      )}
    </Form>
  )
}

function stepLabel(index: number, type: string, forms: Forms | undefined): string {
  return `${index + 1} ${forms?.flowSteps.find(({ kind }) => kind === type)?.title ?? type}`
}

/** Schedule, device, retries and identity of the runs. */
function RunFields({ fields: { values, set, field, check, sending } }: { fields: Fields<Draft> }) {
  const t = messages.tests
  const devices = Object.entries(t.devices).map(([value, label]) => ({ value, label }))
  const isOwnSize = typeof values.device === 'object'
  return (
    <>
      <ScheduleField pattern={values.schedule} timezone={values.timezone} change={set} errorOf={sending.errorOf} />
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
