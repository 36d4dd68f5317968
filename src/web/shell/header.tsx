import { ActionIcon, Anchor, Button, Kbd, Menu, NativeSelect } from '@mantine/core'
import { IconMenu2, IconSearch, IconUser } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listOrganizationsOptions, listProjectsOptions } from '#client/@tanstack/react-query.gen'
import { signOut } from '#client/sdk.gen'
import { MAX_PAGE_SIZE } from '../../contract/limits.ts'
import { PAGE_PATHS } from '../../contract/page-paths.ts'
import { queries } from '../api/queries.ts'
import { session, useSessionState } from '../api/session.ts'
import { useHasRole, useWhoami } from '../api/whoami.ts'
import { dataOption } from '../components/data-text.tsx'
import { Logo } from '../components/logo.tsx'
import { messages } from '../messages.ts'
import { notices } from '../state/notices.ts'
import { RANGES } from '../url-state/search-params.ts'
import { useSharedParams } from '../url-state/use-search-params.ts'
import classes from './header.module.css'
import { IntervalField } from './interval-field.tsx'
import { LiveIndicator } from './live-indicator.tsx'

const CTRL_K = 'Ctrl K'

interface HeaderProps {
  /** Opens the navigation; null where it is always visible. */
  openMenu: (() => void) | null
  showShortcuts(): void
  showPalette(): void
}

/** The bar at the top: product, project, time range, search, account. */
export function Header({ openMenu, showShortcuts, showPalette }: HeaderProps) {
  return (
    <header className={classes.header}>
      {openMenu && (
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={messages.shell.menu} onClick={openMenu}>
          <IconMenu2 size={18} aria-hidden />
        </ActionIcon>
      )}
      <Anchor component={Link} to="/" className={classes.product} c="inherit" underline="never">
        <Logo />
        {messages.shell.product}
      </Anchor>
      <ProjectField />
      <div className={classes.space} />
      <LiveIndicator />
      <RangeField />
      <IntervalField />
      <SearchButton showPalette={showPalette} />
      <AccountMenu showShortcuts={showShortcuts} />
    </header>
  )
}

function ProjectField() {
  const [{ project }, setShared] = useSharedParams()
  const { data } = useQuery(listProjectsOptions({ query: { limit: MAX_PAGE_SIZE } }))
  const options = (data?.projects ?? []).map(({ id, name }) => dataOption(id, name))
  return (
    <NativeSelect
      className={classes.project}
      aria-label={messages.shell.project}
      value={project}
      onChange={({ currentTarget }) => setShared({ project: currentTarget.value })}
      data={[{ value: '', label: messages.shell.allProjects }, ...options]}
    />
  )
}

function RangeField() {
  const [{ range, from, to }, setShared] = useSharedParams()
  return (
    <div role="radiogroup" className={classes.range} aria-label={messages.shell.range}>
      {RANGES.map((value) => (
        <label key={value} className={classes.choice}>
          <input
            type="radio"
            name="range"
            className="heard"
            // No preset is selected while a custom interval is set.
            checked={from === null && to === null && range === value}
            onChange={() => setShared({ range: value, from: null, to: null })}
          />
          {messages.shell.ranges[value]}
        </label>
      ))}
    </div>
  )
}

function SearchButton({ showPalette }: { showPalette(): void }) {
  return (
    <Button
      variant="default"
      className={classes.find}
      aria-haspopup="dialog"
      onClick={showPalette}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        <Kbd size="xs" aria-hidden translate="no">
          {CTRL_K}
        </Kbd>
      }
    >
      {messages.shell.search}
    </Button>
  )
}

function AccountMenu({ showShortcuts }: { showShortcuts(): void }) {
  const who = useWhoami()
  const mayInvite = useHasRole('admin')
  const leave = async () => {
    // Signs out in this browser even if the request fails.
    const answer = await signOut().catch(() => null)
    session.close()
    queries.clear()
    const atProvider = answer?.data?.endSessionUrl
    if (atProvider) location.assign(atProvider)
    else notices.say(messages.shell.signedOut)
  }
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={messages.shell.account}>
          <IconUser size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {who && (
          <Menu.Label>
            <bdi translate="no">{who.name ?? who.email}</bdi>
            <br />
            <bdi translate="no">{who.orgName}</bdi>
          </Menu.Label>
        )}
        <Organizations />
        <Menu.Item component={Link} to="/settings/organization">
          {messages.shell.settings}
        </Menu.Item>
        {mayInvite && (
          <Menu.Item component={Link} to={PAGE_PATHS.settings.members} search={{ dialog: 'invite' } as never}>
            {messages.settings.members.invite}
          </Menu.Item>
        )}
        <Menu.Item onClick={showShortcuts}>{messages.shell.shortcuts}</Menu.Item>
        <Menu.Item component="a" href="/docs/index">
          {messages.shell.documentation}
        </Menu.Item>
        <Menu.Item onClick={() => void leave()}>{messages.shell.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Menu items to switch to the user's other organizations. */
function Organizations() {
  const state = useSessionState()
  const who = useWhoami()
  const { data } = useQuery(listOrganizationsOptions({ query: { limit: MAX_PAGE_SIZE } }))
  const others = (data?.orgs ?? []).filter(({ id }) => id !== who?.orgId)
  if (state.is !== 'open' || others.length === 0) return null
  const change = (orgId: string) => {
    session.open({ ...state.session, orgId })
    queries.clear()
  }
  return others.map(({ id, name }) => (
    <Menu.Item key={id} onClick={() => change(id)}>
      {messages.shell.switchTo} <bdi translate="no">{name}</bdi>
    </Menu.Item>
  ))
}
