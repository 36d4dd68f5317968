import { Button, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { listMembersInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { changeMemberRole, inviteMember, removeMember } from '#client/sdk.gen'
import type { Member } from '#client/types.gen'
import { AT_ONCE, PAGED } from '../../api/pages.ts'
import { sentenceOf } from '../../api/refusal.ts'
import { ROLES, type Role, useMay, useWho } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { Ago } from '../../parts/ago.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Data } from '../../parts/data.tsx'
import { useFields } from '../../parts/fields.ts'
import { Form } from '../../parts/form.tsx'
import { MayLine } from '../../parts/may.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { Secret } from '../../parts/secret.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import type { Pages } from '../../parts/virtual-table.tsx'
import { notices } from '../../shell/notices.ts'
import { SettingsLayout } from './settings-layout.tsx'

/** The display name of a member: name, else e-mail address, else id. */
const displayName = ({ name, email, id }: Member) => name ?? email ?? id

/** `/settings/members`: members of the organization and their roles. */
export function MembersPage() {
  const query = useInfiniteQuery({ ...listMembersInfiniteOptions({ query: { limit: AT_ONCE } }), ...PAGED })
  const queries = useQueryClient()
  const may = useMay('admin')
  const [isInviting, invite] = useState(false)
  // Kept outside the dialog, so that the link is shown even if the dialog was closed before the response.
  const [link, show] = useState<string | null>(null)
  const close = () => {
    invite(false)
    show(null)
  }
  const [leaving, remove] = useState<Member | null>(null)
  const t = messages.settings.members
  const refresh = () => queries.invalidateQueries({ queryKey: [{ _id: 'listMembers' }] })
  const act = async (member: Member) => {
    await removeMember({ path: { id: member.id }, throwOnError: true })
    await refresh()
    notices.say(t.removed(displayName(member)))
  }
  return (
    <SettingsLayout name="members" acts={may && <Button onClick={() => invite(true)}>{t.invite}</Button>}>
      <MayLine needs="admin" what={t.restrictedAction} />
      <QueryState query={query}>
        {({ pages }) => <MemberTable members={pages.flatMap(({ members }) => members)} pages={query} remove={remove} />}
      </QueryState>
      <Modal
        opened={isInviting || link !== null}
        onClose={close}
        title={t.invite}
        closeButtonProps={{ 'aria-label': messages.shell.close }}
        closeOnClickOutside={false}
      >
        {link === null ? (
          <InviteForm show={show} refresh={refresh} />
        ) : (
          <Secret label={t.link} hint={t.linkHint} value={link} button={t.done} close={close} />
        )}
      </Modal>
      <Confirm
        close={() => remove(null)}
        asks={
          leaving && {
            title: t.removeTitle,
            sentence: (
              <>
                <Data>{displayName(leaving)}</Data>
                <br />
                {t.removeHint}
              </>
            ),
            button: t.removeButton,
            act: () => act(leaving),
          }
        }
      />
    </SettingsLayout>
  )
}

interface MemberTableProps {
  members: readonly Member[]
  pages: Pages
  remove(member: Member): void
}

function MemberTable({ members, pages, remove }: MemberTableProps) {
  const may = useMay('admin')
  const who = useWho()
  const t = messages.settings.members
  return (
    <SimpleTable
      name={messages.settings.pages.members}
      rows={members}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[
        { head: messages.settings.fields.name, cell: ({ name }) => <Data>{name ?? '–'}</Data> },
        { head: t.email, cell: ({ email }) => (email === null ? t.hidden : <Data>{email}</Data>) },
        {
          head: t.role,
          cell: (member) =>
            may && member.id !== who?.userId ? <RoleField member={member} /> : messages.api.roles[member.role],
        },
        { head: t.status, cell: ({ status }) => t.statuses[status] },
        { head: messages.settings.fields.created, cell: ({ createdAt }) => <Ago at={createdAt} /> },
        {
          head: messages.settings.actions,
          isHeadHidden: true,
          cell: (member) =>
            may &&
            member.id !== who?.userId && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={t.removeNamed(displayName(member))}
                onClick={() => remove(member)}
              >
                {t.remove}
              </Button>
            ),
        },
      ]}
    />
  )
}

/** The roles that the user may assign; only owners may assign `owner`. */
function useRoles(): { value: Role; label: string }[] {
  const isOwner = useMay('owner')
  const roles = ROLES.filter((role) => isOwner || role !== 'owner')
  return roles.map((value) => ({ value, label: messages.api.roles[value] }))
}

function RoleField({ member }: { member: Member }) {
  const queries = useQueryClient()
  const roles = useRoles()
  const t = messages.settings.members
  const change = async (role: Role) => {
    try {
      await changeMemberRole({ path: { id: member.id }, body: { role }, throwOnError: true })
      notices.say(t.changed(displayName(member)), () => void change(member.role))
    } catch (error) {
      notices.refuse(sentenceOf(error), () => void change(role))
    }
    await queries.invalidateQueries({ queryKey: [{ _id: 'listMembers' }] })
  }
  if (!roles.some(({ value }) => value === member.role)) return messages.api.roles[member.role]
  return (
    <NativeSelect
      size="xs"
      w={120}
      aria-label={t.roleOf(displayName(member))}
      value={member.role}
      onChange={({ currentTarget }) => void change(currentTarget.value as Role)}
      data={roles}
    />
  )
}

function InviteForm({ show, refresh }: { show(link: string): void; refresh(): Promise<void> }) {
  const roles = useRoles()
  const t = messages.settings.members
  const { values, field, sending } = useFields({ email: '', role: 'member' as Role }, async (body) => {
    show((await inviteMember({ body, throwOnError: true })).data.inviteUrl)
    await refresh()
    notices.say(t.invited(body.email))
  })
  return (
    <Form sending={sending} button={t.send}>
      <Stack gap="md">
        <TextInput type="email" label={t.email} {...field('email')} required maxLength={254} data-autofocus />
        <NativeSelect label={t.role} {...field('role')} data={roles} />
        <Text c="dimmed" fz="sm">
          {t.roles[values.role]}
        </Text>
      </Stack>
    </Form>
  )
}
