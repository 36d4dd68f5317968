import { Button, Checkbox, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { listKeysInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { createKey, revokeKey } from '#client/sdk.gen'
import type { Key } from '#client/types.gen'
import { AT_ONCE, PAGED } from '../../api/pages.ts'
import { useMay } from '../../api/who.ts'
import { Ago } from '../../parts/ago.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Code, Data } from '../../parts/data.tsx'
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

/** `/settings/keys`: API keys; a secret is shown once. */
export function KeysPage() {
  const query = useInfiniteQuery({ ...listKeysInfiniteOptions({ query: { limit: AT_ONCE } }), ...PAGED })
  const queries = useQueryClient()
  const [isMaking, make] = useState(false)
  // Here, so that it is shown also to who has closed the dialog before it came.
  const [secret, show] = useState<string | null>(null)
  const close = () => {
    make(false)
    show(null)
  }
  const [revoked, revoke] = useState<Key | null>(null)
  const said = words.settings.keys
  const may = useMay('viewer')
  const remove = async ({ id, name }: Key) => {
    await revokeKey({ path: { id }, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listKeys' }] })
    notices.say(said.revoked(name))
  }
  const create = may && <Button onClick={() => make(true)}>{said.create}</Button>
  return (
    <SettingsFrame name="keys" acts={create}>
      <MayLine needs="viewer" what={said.what} />
      <Text c="dimmed" mb="md">
        {said.intro}
      </Text>
      <QueryState query={query} isEmpty={({ pages }) => pages[0]?.keys.length === 0} empty={<Text>{said.none}</Text>}>
        {({ pages }) => (
          <KeyTable keys={pages.flatMap(({ keys }) => keys)} pages={query} revoke={may ? revoke : null} />
        )}
      </QueryState>
      <Modal
        opened={isMaking || secret !== null}
        onClose={close}
        title={said.create}
        closeButtonProps={{ 'aria-label': words.shell.close }}
        closeOnClickOutside={false}
      >
        {secret === null ? (
          <NewKeyForm show={show} />
        ) : (
          <Secret label={said.secret} hint={said.secretHint} value={secret} button={said.stored} close={close} />
        )}
      </Modal>
      <Confirm
        close={() => revoke(null)}
        asks={
          revoked && {
            title: said.revokeTitle,
            sentence: (
              <>
                <Data>{revoked.name}</Data>
                <br />
                {said.revokeHint}
              </>
            ),
            button: said.revokeButton,
            act: () => remove(revoked),
          }
        }
      />
    </SettingsFrame>
  )
}

interface KeyTableProps {
  keys: readonly Key[]
  pages: Pages
  revoke: ((key: Key) => void) | null
}

function KeyTable({ keys, pages, revoke }: KeyTableProps) {
  const said = words.settings.keys
  return (
    <SimpleTable
      name={words.settings.pages.keys}
      rows={keys}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[
        { head: words.settings.fields.name, cell: ({ name }) => <Data>{name}</Data> },
        { head: said.ends, cell: ({ secretTail }) => <Code>{`…${secretTail}`}</Code> },
        { head: said.may, cell: ({ readOnly }) => (readOnly ? said.mayRead : said.mayWrite) },
        { head: said.expires, cell: ({ expiresAt }) => <Ago at={expiresAt} missing={words.api.never} /> },
        { head: said.lastUsed, cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} missing={words.api.never} /> },
        {
          head: words.settings.actions,
          isHeadHidden: true,
          cell: (key) =>
            revoke && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={said.revoke(key.name)}
                onClick={() => revoke(key)}
              >
                {said.revokeRow}
              </Button>
            ),
        },
      ]}
    />
  )
}

type Expiry = keyof typeof words.settings.keys.expiries
const NEW_KEY = { name: '', expiresInDays: '90' as Expiry, readOnly: false }

function NewKeyForm({ show }: { show(secret: string): void }) {
  const queries = useQueryClient()
  const said = words.settings.keys
  const { field, check, sending } = useFields(NEW_KEY, async ({ name, expiresInDays: expires, readOnly }) => {
    const expiresInDays = expires === 'never' ? null : Number(expires)
    show((await createKey({ body: { name, expiresInDays, readOnly }, throwOnError: true })).data.secret)
    await queries.invalidateQueries({ queryKey: [{ _id: 'listKeys' }] })
  })
  return (
    <Form sending={sending} button={said.make}>
      <Stack gap="md">
        <TextInput label={words.settings.fields.name} {...field('name')} required maxLength={200} data-autofocus />
        <NativeSelect
          label={said.expires}
          {...field('expiresInDays')}
          data={Object.entries(said.expiries).map(([value, label]) => ({ value, label }))}
        />
        <Checkbox label={said.readOnly} {...check('readOnly')} />
      </Stack>
    </Form>
  )
}
