import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getOwnershipOptions, listLabelsOptions, listProjectsOptions } from '#client/@tanstack/react-query.gen'
import { setOwnership } from '#client/sdk.gen'
import type { Ownership } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'
import { memberName, useMemberNames, useMembers } from '../../api/members.ts'
import { mutate } from '../../api/mutate.ts'
import { queries, sharedQueries } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { ChannelRows } from '../../components/channel-rows.tsx'
import { ChannelTarget } from '../../components/channel-target.tsx'
import { Data } from '../../components/data-text.tsx'
import { Form, useSubmit } from '../../components/form.tsx'
import { ManagedNotice } from '../../components/managed-by.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { useIsMounted } from '../../components/use-is-mounted.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SettingsLayout } from './settings-layout.tsx'

type Rule = Ownership['rules'][number]
type Match = Rule['match']

const MAX_RULES = 200
const FIELDS = ['domainId', 'projectId', 'vendor', 'labelId', 'pathPrefix'] as const

/** `/settings/ownership`: rules that assign issues. */
export function OwnershipPage() {
  const query = useQuery(getOwnershipOptions())
  const may = useHasRole('admin')
  /** Index of the edited rule; the number of rules for a new one. */
  const [edited, edit] = useState<number | null>(null)
  const rules = query.data?.rules ?? []
  const t = messages.settings.ownership
  const save = async (next: readonly Rule[]) => {
    const { data } = await setOwnership({ body: { rules: [...next] } })
    queries.setQueryData(getOwnershipOptions().queryKey, data)
  }
  const change = (next: readonly Rule[], message: string) => void mutate({ send: () => save(next), message })
  return (
    <SettingsLayout
      name="ownership"
      acts={
        may && query.data && rules.length < MAX_RULES && <Button onClick={() => edit(rules.length)}>{t.create}</Button>
      }
    >
      <RoleNotice needs="admin" what={t.restrictedAction} />
      <ManagedNotice managedBy={query.data?.managedBy} />
      <Text c="dimmed" mb="md" maw="72ch">
        {t.intro}
      </Text>
      <QueryState query={query} isEmpty={(data) => data.rules.length === 0} empty={<Text>{t.none}</Text>}>
        {(data) => <RuleTable rules={data.rules} edit={edit} change={change} />}
      </QueryState>
      <Modal
        opened={edited !== null}
        onClose={() => edit(null)}
        title={edited === rules.length ? t.create : t.editTitle}
        closeButtonProps={{ 'aria-label': messages.shell.close }}
        size="lg"
      >
        {edited !== null && (
          <RuleForm
            rule={rules[edited] ?? { match: {}, assigneeId: null, channels: [] }}
            index={edited}
            save={(rule) => save(edited < rules.length ? rules.with(edited, rule) : [...rules, rule])}
            close={() => edit(null)}
          />
        )}
      </Modal>
    </SettingsLayout>
  )
}

interface RuleTableProps {
  rules: readonly Rule[]
  edit(index: number): void
  change(rules: readonly Rule[], message: string): void
}

function RuleTable({ rules, edit, change }: RuleTableProps) {
  const may = useHasRole('admin')
  const nameOf = useMemberNames()
  const t = messages.settings.ownership
  const moved = (from: number, to: number) => {
    const rest = rules.toSpliced(from, 1)
    change(rest.toSpliced(to, 0, rules[from] as Rule), t.moved)
  }
  return (
    <SimpleTable
      name={messages.settings.pages.ownership}
      rows={rules.map((rule, index) => ({ rule, index }))}
      keyOf={({ index }) => String(index)}
      columns={[
        { head: t.order, isNumber: true, cell: ({ index }) => index + 1 },
        { head: t.issues, cell: ({ rule }) => <MatchText match={rule.match} /> },
        {
          head: messages.issue.assignee,
          cell: ({ rule: { assigneeId } }) =>
            assigneeId ? <Data>{nameOf(assigneeId) ?? messages.issue.someMember}</Data> : messages.issue.nobody,
        },
        {
          head: t.channels,
          cell: ({ rule: { channels = [] } }) =>
            channels.map(({ type, target }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: channels are identified only by their index
              <div key={index} style={{ overflowWrap: 'anywhere' }}>
                {messages.deliveries.channels[type]} <ChannelTarget target={target} />
              </div>
            )),
        },
        {
          head: messages.settings.actions,
          isHeadHidden: true,
          cell: ({ index }) =>
            may && (
              <Group gap="xs" justify="flex-end">
                <Act label={t.up} name={t.upNamed(index + 1)} isOff={index === 0} act={() => moved(index, index - 1)} />
                <Act
                  label={t.down}
                  name={t.downNamed(index + 1)}
                  isOff={index === rules.length - 1}
                  act={() => moved(index, index + 1)}
                />
                <Act label={t.edit} name={t.editNamed(index + 1)} act={() => edit(index)} />
                <Act
                  label={messages.settings.delete}
                  name={t.deleteNamed(index + 1)}
                  act={() => change(rules.toSpliced(index, 1), t.deleted)}
                />
              </Group>
            ),
        },
      ]}
    />
  )
}

function Act({ label, name, isOff = false, act }: { label: string; name: string; isOff?: boolean; act(): void }) {
  return (
    <Button size="compact-sm" variant="default" aria-label={name} disabled={isOff} onClick={act}>
      {label}
    </Button>
  )
}

/** Names of the things that rules can name, by field. */
function useOptions() {
  const page = { query: { limit: MAX_PAGE_SIZE } }
  const domains = useQuery(sharedQueries.domains()).data?.domains ?? []
  const projects = useQuery(listProjectsOptions(page)).data?.projects ?? []
  const labels = useQuery(listLabelsOptions(page)).data?.labels ?? []
  const named = ({ id, name }: { id: string; name: string }) => ({ value: id, label: name })
  return {
    domainId: domains.map(named),
    projectId: projects.map(named),
    labelId: labels.map(({ id, label }) => ({ value: id, label })),
  }
}

function MatchText({ match }: { match: Match }) {
  const options = useOptions()
  const t = messages.settings.ownership
  const parts = FIELDS.flatMap((field) => {
    const value = match[field]
    if (value === undefined) return []
    const named =
      field === 'vendor' || field === 'pathPrefix' ? null : options[field].find((one) => one.value === value)
    return [{ field, value: named?.label ?? value }]
  })
  if (parts.length === 0) return t.everyIssue
  return parts.map(({ field, value }) => (
    <div key={field} style={{ overflowWrap: 'anywhere' }}>
      {t.matches(t.fields[field])} <Data>{value}</Data>
    </div>
  ))
}

interface RuleFormProps {
  rule: Rule
  /** Index of the rule in the request, by which the server names its fields. */
  index: number
  save(rule: Rule): Promise<void>
  close(): void
}

const ERROR_FIELDS = ['assigneeId', ...FIELDS.map((field) => `match.${field}`)]

function RuleForm({ rule: saved, index, save, close }: RuleFormProps) {
  const [rule, setRule] = useState(saved)
  const forms = useQuery(sharedQueries.forms()).data
  const options = useOptions()
  const members = useMembers().filter(({ status }) => status === 'active')
  const isHere = useIsMounted()
  const t = messages.settings.ownership
  const { channels = [] } = rule
  const prefix = `rules[${index}].`
  const channelFields = channels.flatMap((_, at) => [`channels[${at}].type`, `channels[${at}].target`])
  const sending = useSubmit(
    [...ERROR_FIELDS, ...channelFields].map((field) => `${prefix}${field}`),
    async () => {
      await save(rule)
      notices.say(messages.settings.saved)
      if (isHere()) close()
    },
  )
  const errorOf = (field: string) => sending.errorOf(`${prefix}${field}`)
  const match = (field: keyof Match, value: string | null) => {
    const { [field]: _, ...rest } = rule.match
    setRule({ ...rule, match: value ? { ...rest, [field]: value } : rest })
  }
  const select = (field: 'domainId' | 'projectId' | 'labelId') => (
    <Select
      label={t.fields[field]}
      placeholder={t.any}
      data={options[field]}
      value={rule.match[field] ?? null}
      onChange={(value) => match(field, value)}
      error={errorOf(`match.${field}`)}
      searchable
      clearable
    />
  )
  const input = (field: 'vendor' | 'pathPrefix', hint: string) => (
    <TextInput
      label={t.fields[field]}
      description={hint}
      placeholder={t.any}
      value={rule.match[field] ?? ''}
      onChange={({ currentTarget: { value } }) => match(field, value)}
      error={errorOf(`match.${field}`)}
    />
  )
  return (
    <Form submission={sending} button={messages.settings.save} isWide>
      <Stack gap="md">
        {select('domainId')}
        {select('projectId')}
        {input('vendor', t.vendorHint)}
        {select('labelId')}
        {input('pathPrefix', t.pathHint)}
        <Select
          label={messages.issue.assignee}
          placeholder={messages.issue.nobody}
          data={members.map((member) => ({
            value: member.id,
            label: memberName(member) ?? messages.issue.someMember,
          }))}
          value={rule.assigneeId ?? null}
          onChange={(assigneeId) => setRule({ ...rule, assigneeId })}
          error={errorOf('assigneeId')}
          searchable
          clearable
        />
        {forms && (
          <ChannelRows
            channels={channels}
            forms={forms}
            path="channels"
            errorOf={errorOf}
            change={(next) => setRule({ ...rule, channels: next })}
          />
        )}
      </Stack>
    </Form>
  )
}
