import { byId, onSubmit, say } from './elements.js'

// The credential comes from a form, or from the URL's fragment (which is not sent to servers), and is kept in this tab.
const SET_UP_ALREADY = 'This server is set up already, and the link of its first start is used up: sign in.'
const fromAddress = new URLSearchParams(location.hash.slice(1))
if (location.hash) history.replaceState(null, '', location.pathname)

/** Sends a request with the credential; fails with the server's message, and the response's `status`. */
export async function ask(method, path, body) {
  const credential = sessionStorage.getItem('credential')
  const response = await fetch(path, {
    method,
    headers: {
      ...credentials(),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (response.status === 401 && credential) forget()
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status })
  return answer
}

function credentials() {
  const credential = sessionStorage.getItem('credential')
  const org = sessionStorage.getItem('org')
  return {
    ...(credential ? { authorization: `Bearer ${credential}` } : {}),
    ...(credential && org ? { 'x-org-id': org } : {}),
  }
}

/** Answers a picture as an address that the page may show; null when there is none. */
export async function askPicture(path) {
  const response = await fetch(path, { headers: credentials() })
  if (!response.ok) return null
  const bytes = new Uint8Array(await response.arrayBuffer())
  return `data:image/png;base64,${bytes.toBase64()}`
}

export const isSignedIn = () => sessionStorage.getItem('credential') !== null
/** False for a user with an API key. */
export const isSession = () => sessionStorage.getItem('credential')?.startsWith('st_') === true

function remember(credential, orgs = []) {
  sessionStorage.setItem('credential', credential)
  sessionStorage.setItem('orgs', JSON.stringify(orgs))
  if (orgs.length > 1) sessionStorage.setItem('org', orgs[0].id)
  else sessionStorage.removeItem('org')
}

function forget() {
  for (const name of ['credential', 'orgs', 'org']) sessionStorage.removeItem(name)
}

/** Shows the forms, or the signed-in user and the organizations to choose from. */
export function showEntrance() {
  byId('enter').hidden = isSignedIn()
  byId('sign-out').hidden = !isSession()
  const orgs = JSON.parse(sessionStorage.getItem('orgs') ?? '[]')
  byId('choose').hidden = orgs.length < 2
  byId('org').replaceChildren(...orgs.map(({ id, name }) => new Option(name, id)))
  byId('org').value = sessionStorage.getItem('org') ?? ''
}

/** Prepares the forms; `changed` is called after each sign-in and sign-out. Resolves when the page is ready. */
export async function openEntrance(changed) {
  const onEntry = (id, enter) =>
    onSubmit(id, async (given) => {
      await enter(given)
      for (const form of ['set-up', 'accept', 'sign-in', 'by-key']) {
        byId(form).hidden = form === 'set-up' || form === 'accept'
      }
      changed()
    })
  onEntry('sign-in', (given) => open('login', given))
  onEntry('set-up', (given) => setUp({ ...given, token: fromAddress.get('setup') }))
  onEntry('accept', (given) => open('invite', { ...given, token: fromAddress.get('invite') }))
  onEntry('by-key', async ({ key }) => remember(key.trim()))
  byId('org').addEventListener('change', ({ target }) => {
    sessionStorage.setItem('org', target.value)
    changed()
  })
  byId('sign-out').addEventListener('click', async () => {
    await ask('POST', '/v1/auth/logout').catch(() => {})
    forget()
    say('Signed out.')
    changed()
  })
  byId('oidc').addEventListener('click', () => sessionStorage.setItem('oidc', location.pathname))
  await arrive()
  changed()
}

async function open(path, body) {
  const { token, orgs } = await ask('POST', `/v1/auth/${path}`, body)
  remember(token, orgs)
}

async function setUp(given) {
  try {
    await open('setup', given)
  } catch (error) {
    // The link is refused, not the input.
    if (error.status !== 401 && error.status !== 409) throw error
    fromAddress.delete('setup')
    throw new Error(await offerForms())
  }
}

/** Reads the credential from the URL when the page opens. */
async function arrive() {
  if (['setup', 'invite'].some((word) => fromAddress.has(word))) forget()
  try {
    // Only in the demo: elsewhere a link with a key could sign a user in as its sender (login CSRF).
    if (fromAddress.has('demo') && fromAddress.has('key') && (await fetch('/demo/inbox')).ok) {
      remember(fromAddress.get('key'))
    }
    // Only if this tab began the sign-in, for the same reason.
    const beganAt = sessionStorage.getItem('oidc')
    sessionStorage.removeItem('oidc')
    if (beganAt && fromAddress.has('signin-error')) say(fromAddress.get('signin-error'))
    if (beganAt && fromAddress.has('signin')) {
      await open('oidc/session', { code: fromAddress.get('signin') })
      if (beganAt !== location.pathname) location.replace(beganAt)
    }
    const sentence = await offerForms()
    if (sentence) say(sentence)
  } catch (error) {
    say(error.message)
  }
}

/** Shows the forms that apply now. Returns the message to show with them; null for none. */
async function offerForms() {
  const { setUp: canSetUp, oidc } = await ask('GET', '/v1/auth/methods')
  const hasLink = fromAddress.has('setup')
  byId('set-up').hidden = !(canSetUp && hasLink)
  byId('accept').hidden = !fromAddress.has('invite')
  byId('sign-in').hidden = canSetUp || fromAddress.has('invite')
  byId('by-key').hidden = byId('sign-in').hidden
  byId('oidc').hidden = oidc === null
  if (oidc) byId('oidc').textContent = `Sign in with ${oidc.name}`
  if (canSetUp && !hasLink) return 'Nobody has set up this server yet: open the link in its log.'
  return !canSetUp && hasLink ? SET_UP_ALREADY : null
}
