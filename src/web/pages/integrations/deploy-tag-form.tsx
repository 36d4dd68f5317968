import { NativeSelect, Stack, TagsInput, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { getTagDeploymentOptions } from '#client/@tanstack/react-query.gen'
import { deployTags } from '#client/sdk.gen'
import type { TagDeployInput, TagDeployment, TagDeployStatus } from '#client/types.gen'
import { ApiError } from '../../api/api-error.ts'
import { invalidate, sharedQueries } from '../../api/queries.ts'
import { Data, dataOption } from '../../components/data-text.tsx'
import { Form, useSubmit } from '../../components/form.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { ContainerTags } from './container-tags.tsx'
import { containerPathOf, type DeploymentDraft, inputOf, NO_DEPLOYMENT } from './tag-deployment.ts'

const POLL_INTERVAL_MS = 2000
const FIELDS = ['domainId', 'containerPath', 'container.publicId', 'tagName', 'customerIdVariable', 'sessionIdVariable']

/**
 * Adds Tagwarden's tag to a workspace of a Google Tag Manager container. A person then reviews and publishes the tag.
 */
export function DeployForm() {
  const [draft, setDraft] = useState(NO_DEPLOYMENT)
  const [done, finish] = useState<TagDeployment | null>(null)
  const leaving = useRef(new AbortController())
  useEffect(() => {
    const left = new AbortController()
    leaving.current = left
    return () => left.abort()
  }, [])
  const change = (part: Partial<DeploymentDraft>) => setDraft((before) => ({ ...before, ...part }))
  const path = containerPathOf(draft.address)
  const sending = useSubmit(FIELDS, async () => {
    finish(null)
    try {
      finish(await deploy(inputOf(draft), leaving.current.signal))
    } finally {
      await invalidate('getTagDeployment')
    }
  })
  const t = messages.integrations.deploy
  return (
    <section>
      <Title order={2} mb="sm">
        {t.title}
      </Title>
      <Text c="dimmed" mb="md">
        {t.hint}
      </Text>
      <Form submission={sending} button={t.button} isWide>
        <Container draft={draft} change={change} errorOf={sending.errorOf} />
        {path && (
          <ContainerTags
            path={path}
            selected={draft.selectedTags}
            choose={(selectedTags) => change({ selectedTags })}
          />
        )}
        <OptionalFields draft={draft} change={change} errorOf={sending.errorOf} />
      </Form>
      {path && done === null && <Progress path={path} isSending={sending.isSending} />}
      <div role="status">{done && <Result done={done} />}</div>
    </section>
  )
}

interface FieldsProps {
  draft: DeploymentDraft
  change(part: Partial<DeploymentDraft>): void
  errorOf(field: string): string | undefined
}

/** The container and the domain. */
function Container({ draft, change, errorOf }: FieldsProps) {
  const { data } = useQuery(sharedQueries.domains())
  const t = messages.integrations.deploy
  return (
    <>
      <NativeSelect
        label={t.domain}
        value={draft.domainId}
        onChange={({ currentTarget }) => change({ domainId: currentTarget.value })}
        data={[
          { value: '', label: t.chooseDomain },
          ...(data?.domains ?? []).map(({ id, name }) => dataOption(id, name)),
        ]}
        error={errorOf('domainId')}
        required
      />
      <TextInput
        label={t.containerUrl}
        description={t.containerUrlHint}
        value={draft.address}
        onChange={({ currentTarget }) => change({ address: currentTarget.value })}
        error={errorOf('containerPath')}
        required
      />
      <TextInput
        label={t.publicId}
        description={t.publicIdHint}
        value={draft.publicId}
        onChange={({ currentTarget }) => change({ publicId: currentTarget.value })}
        error={errorOf('container.publicId')}
        required
        maxLength={100}
      />
    </>
  )
}

/** Optional fields. */
function OptionalFields({ draft, change, errorOf }: FieldsProps) {
  const t = messages.integrations.deploy
  const names = ['tagName', 'customerIdVariable', 'sessionIdVariable'] as const
  return (
    <Stack gap="md">
      {names.map((name) => (
        <TextInput
          key={name}
          label={t.fields[name]}
          description={t.hints[name]}
          value={draft[name]}
          onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
          error={errorOf(name)}
          maxLength={200}
        />
      ))}
      <TagsInput
        label={t.hosts}
        description={t.hostsHint}
        value={[...draft.whitelistedDomains]}
        onChange={(whitelistedDomains) => change({ whitelistedDomains })}
      />
    </Stack>
  )
}

/** Progress of the last deployment to the container; renders nothing without one. */
function Progress({ path, isSending }: { path: string; isSending: boolean }) {
  const { data } = useQuery({
    ...getTagDeploymentOptions({ query: { containerPath: path } }),
    refetchInterval: ({ state }) => (isSending || state.data?.status === 'running' ? POLL_INTERVAL_MS : false),
  })
  if (!data || data.status === 'none') return null
  return (
    <Text fz="sm" mt="sm" component="div">
      {messages.integrations.deploy.statuses[data.status]} <Calls status={data} />
      {data.error && <Data>{data.error}</Data>}
    </Text>
  )
}

function Calls({ status: { status, callsDone, callsTotal, waitsUntil } }: { status: TagDeployStatus }) {
  const t = messages.integrations.deploy
  if (status !== 'running') return null
  return (
    <>
      {t.calls(callsDone, callsTotal)}{' '}
      {waitsUntil !== null && (
        <>
          {t.nextCallAllowed} <TimeAgo at={waitsUntil} />
        </>
      )}
    </>
  )
}

/** The result, and the remaining steps. */
function Result({ done: { workspaceName, tag, monitoredTags } }: { done: TagDeployment }) {
  const t = messages.integrations.deploy
  return (
    <Stack gap="xs" mt="md">
      <Text fw={600}>
        {t.done} <Data>{workspaceName}</Data>
      </Text>
      <Text>
        {t.outcomes[tag]} {t.reportedByName(monitoredTags)} {t.publish}
      </Text>
    </Stack>
  )
}

/**
 * Deploys the tag. Retries while the server responds with 503. A long deployment continues in the meantime, and the
 * repeated request waits for it to finish.
 */
async function deploy(body: TagDeployInput, signal: AbortSignal): Promise<TagDeployment> {
  for (;;) {
    try {
      return (await deployTags({ body, signal })).data
    } catch (error) {
      const waitS = error instanceof ApiError && error.status === 503 ? error.retryAfterS : null
      if (waitS === null || signal.aborted) throw error
      await new Promise((done) => setTimeout(done, waitS * 1000))
      signal.throwIfAborted()
    }
  }
}
