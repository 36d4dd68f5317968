import { Button, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { listMembersInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { changeMemberRole, inviteMember, removeMember } from '#client/sdk.gen'
import type { Member } from '#client/types.gen'
import { AT_ONCE, PAGED } from '../../api/pages.ts'
import { sentenceOf } from '../../api/refusal.ts'
import { ROLES, type Role, useMay, useWho } from '../../api/who.ts'
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
import { words } from '../../words.ts'
import { SettingsFrame } from './settings-frame.tsx'

/** What a member is called: by name, else by address, else by id. */
const callOf = ({ name, email, id }: Member) => name ?? email ?? id

/** `/settings/members`: who belongs to the organization, with which role. */
export function MembersPage() {
  const query = useInfiniteQuery({ ...listMembersInfiniteOptions({ query: { limit: AT_ONCE } }), ...PAGED })
  const queries = useQueryClient()
  const may = useMay('admin')
  const [isInviting, invite] = useState(false)
  // Here, so that it is shown also to who has closed the dialog before it came.
  const [link, show] = useState<string | null>(null)
  const close = () => {
    invite(false)
    show(null)
  }
  const [leaving, remove] = useState<Member | null>(null)
  const said = words.settings.members
  const refresh = () => queries.invalidateQueries({ queryKey: [{ _id: 'listMembers' }] })
  const act = async (member: Member) => {
    await removeMember({ path: { id: member.id }, throwOnError: true })
    await refresh()
    notices.say(said.removed(callOf(member)))
  }
  return (
    <SettingsFrame name="members" acts={may && <Button onClick={() => invite(true)}>{said.invite}</Button>}>
      <MayLine needs="admin" what={said.what} />
      <QueryState query={query}>
        {({ pages }) => <MemberTable members={pages.flatMap(({ members }) => members)} pages={query} remove={remove} />}
      </QueryState>
      <Modal
        opened={isInviting || link !== null}
        onClose={close}
        title={said.invite}
        closeButtonProps={{ 'aria-label': words.shell.close }}
        closeOnClickOutside={false}
      >
        {link === null ? (
          <InviteForm show={show} refresh={refresh} />
        ) : (
          <Secret label={said.link} hint={said.linkHint} value={link} button={said.done} close={close} />
        )}
      </Modal>
      <Confirm
        close={() => remove(null)}
        asks={
          leaving && {
            title: said.removeTitle,
            sentence: (
              <>
                <Data>{callOf(leaving)}</Data>
                <br />
                {said.removeHint}
              </>
            ),
            button: said.removeButton,
            act: () => act(leaving),
          }
        }
      />
    </SettingsFrame>
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
  const said = words.settings.members
  return (
    <SimpleTable
      name={words.settings.pages.members}
      rows={members}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[
        { head: words.settings.fields.name, cell: ({ name }) => <Data>{name ?? '–'}</Data> },
        { head: said.email, cell: ({ email }) => (email === null ? said.hidden : <Data>{email}</Data>) },
        {
          head: said.role,
          cell: (member) =>
            may && member.id !== who?.userId ? <RoleField member={member} /> : words.api.roles[member.role],
        },
        { head: said.status, cell: ({ status }) => said.statuses[status] },
        { head: words.settings.fields.created, cell: ({ createdAt }) => <Ago at={createdAt} /> },
        {
          head: words.settings.actions,
          isHeadHidden: true,
          cell: (member) =>
            may &&
            member.id !== who?.userId && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={said.remove(callOf(member))}
                onClick={() => remove(member)}
              >
                {said.removeRow}
              </Button>
            ),
        },
      ]}
    />
  )
}

/** Only owners make owners, so the others are offered the roles below. */
function useRoles(): { value: Role; label: string }[] {
  const isOwner = useMay('owner')
  const roles = ROLES.filter((role) => isOwner || role !== 'owner')
  return roles.map((value) => ({ value, label: words.api.roles[value] }))
}

function RoleField({ member }: { member: Member }) {
  const queries = useQueryClient()
  const roles = useRoles()
  const said = words.settings.members
  const change = async (role: Role) => {
    try {
      await changeMemberRole({ path: { id: member.id }, body: { role }, throwOnError: true })
      notices.say(said.changed(callOf(member)), () => void change(member.role))
    } catch (error) {
      notices.refuse(sentenceOf(error), () => void change(role))
    }
    await queries.invalidateQueries({ queryKey: [{ _id: 'listMembers' }] })
  }
  if (!roles.some(({ value }) => value === member.role)) return words.api.roles[member.role]
  return (
    <NativeSelect
      size="xs"
      w={120}
      aria-label={said.roleOf(callOf(member))}
      value={member.role}
      onChange={({ currentTarget }) => void change(currentTarget.value as Role)}
      data={roles}
    />
  )
}

function InviteForm({ show, refresh }: { show(link: string): void; refresh(): Promise<void> }) {
  const roles = useRoles()
  const said = words.settings.members
  const { values, field, sending } = useFields({ email: '', role: 'member' as Role }, async (body) => {
    show((await inviteMember({ body, throwOnError: true })).data.inviteUrl)
    await refresh()
    notices.say(said.invited(body.email))
  })
  return (
    <Form sending={sending} button={said.send}>
      <Stack gap="md">
        <TextInput type="email" label={said.email} {...field('email')} required maxLength={254} data-autofocus />
        <NativeSelect label={said.role} {...field('role')} data={roles} />
        <Text c="dimmed" fz="sm">
          {said.roles[values.role]}
        </Text>
      </Stack>
    </Form>
  )
}
