import { Button, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listMembersInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { changeMemberRole, inviteMember, removeMember } from '#client/sdk.gen'
import type { Member } from '#client/types.gen'
import { MAX_EMAIL_LENGTH } from '../../../contract/limits.ts'
import { ROLES, type Role } from '../../../contract/roles.ts'
import { errorMessage } from '../../api/api-error.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { invalidate } from '../../api/queries.ts'
import { useHasRole, useWhoami } from '../../api/whoami.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Data } from '../../components/data-text.tsx'
import { Form } from '../../components/form.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import type { PagedQuery } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { useSearchParams } from '../../url-state/use-search-params.ts'
import { MEMBERS } from './members-params.ts'
import { SettingsLayout } from './settings-layout.tsx'

/** The display name of a member: the name, or else the e-mail address, or else the id. */
const displayName = ({ name, email, id }: Member) => name ?? email ?? id

/** `/settings/members`: members of the organization and their roles. */
export function MembersPage() {
  const query = useInfiniteQuery(listMembersInfiniteOptions({ query: { limit: PAGE_SIZE } }))
  const may = useHasRole('admin')
  const [{ dialog }, set] = useSearchParams(MEMBERS)
  const isInviting = may && dialog === 'invite'
  // Kept outside the dialog, so that the link is shown even if the dialog is closed before the response arrives.
  const [link, show] = useState<string | null>(null)
  const close = () => {
    set({ dialog: null })
    show(null)
  }
  const [leaving, remove] = useState<Member | null>(null)
  const t = messages.settings.members
  const refresh = () => invalidate('listMembers')
  const act = async (member: Member) => {
    await removeMember({ path: { id: member.id } })
    await refresh()
    notices.say(t.removed(displayName(member)))
  }
  return (
    <SettingsLayout name="members" acts={may && <Button onClick={() => set({ dialog: 'invite' })}>{t.invite}</Button>}>
      <RoleNotice needs="admin" what={t.restrictedAction} />
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
          <OneTimeSecret label={t.link} hint={t.linkHint} value={link} button={t.done} close={close} />
        )}
      </Modal>
      <ConfirmDialog
        close={() => remove(null)}
        confirmation={
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
            action: () => act(leaving),
          }
        }
      />
    </SettingsLayout>
  )
}

interface MemberTableProps {
  members: readonly Member[]
  pages: PagedQuery
  remove(member: Member): void
}

function MemberTable({ members, pages, remove }: MemberTableProps) {
  const may = useHasRole('admin')
  const who = useWhoami()
  const t = messages.settings.members
  return (
    <SimpleTable
      name={messages.settings.pages.members}
      rows={members}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[
        { head: messages.settings.fields.name, cell: (member) => <Data>{displayName(member)}</Data> },
        { head: t.email, cell: ({ email }) => (email === null ? t.hidden : <Data>{email}</Data>) },
        {
          head: t.role,
          cell: (member) =>
            may && member.id !== who?.userId ? <RoleField member={member} /> : messages.displayNames.roles[member.role],
        },
        { head: t.status, cell: ({ status }) => t.statuses[status] },
        {
          head: t.secondFactor,
          cell: ({ secondFactor }) => (secondFactor === null ? t.hidden : t.secondFactors[secondFactor ? 'yes' : 'no']),
        },
        { head: messages.settings.fields.created, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
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
  const isOwner = useHasRole('owner')
  const roles = ROLES.filter((role) => isOwner || role !== 'owner')
  return roles.map((value) => ({ value, label: messages.displayNames.roles[value] }))
}

function RoleField({ member }: { member: Member }) {
  const roles = useRoles()
  const t = messages.settings.members
  const change = async (role: Role) => {
    try {
      await changeMemberRole({ path: { id: member.id }, body: { role } })
      notices.say(t.changed(displayName(member)), () => void change(member.role))
    } catch (error) {
      notices.refuse(errorMessage(error), () => void change(role))
    }
    await invalidate('listMembers')
  }
  if (!roles.some(({ value }) => value === member.role)) return messages.displayNames.roles[member.role]
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
  const { values, field, sending } = useFormFields({ email: '', role: 'member' as Role }, async (body) => {
    show((await inviteMember({ body })).data.inviteUrl)
    await refresh()
    notices.say(t.invited(body.email))
  })
  return (
    <Form submission={sending} button={t.send}>
      <Stack gap="md">
        <TextInput
          type="email"
          label={t.email}
          {...field('email')}
          required
          maxLength={MAX_EMAIL_LENGTH}
          data-autofocus
        />
        <NativeSelect label={t.role} {...field('role')} data={roles} />
        <Text c="dimmed" fz="sm">
          {t.roles[values.role]}
        </Text>
      </Stack>
    </Form>
  )
}
