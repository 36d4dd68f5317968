// The credential comes by a form, or in the address behind # (which no server sees), and stays in this tab.
const byId = (id) => document.getElementById(id)
const fromAddress = new URLSearchParams(location.hash.slice(1))
if (location.hash) history.replaceState(null, '', location.pathname)

/** Asks the server as whoever is signed in; fails with the server's own sentence. */
export async function ask(method, path, body) {
  const credential = sessionStorage.getItem('credential')
  const org = sessionStorage.getItem('org')
  const response = await fetch(path, {
    method,
    headers: {
      ...(credential ? { authorization: `Bearer ${credential}` } : {}),
      ...(credential && org ? { 'x-org-id': org } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (response.status === 401 && credential) forget()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

export const isSignedIn = () => sessionStorage.getItem('credential') !== null
export const isDemo = () => sessionStorage.getItem('demo') !== null

function remember(credential, orgs = []) {
  sessionStorage.setItem('credential', credential)
  sessionStorage.setItem('orgs', JSON.stringify(orgs))
  if (orgs.length > 1) sessionStorage.setItem('org', orgs[0].id)
  else sessionStorage.removeItem('org')
}

function forget() {
  for (const name of ['credential', 'orgs', 'org']) sessionStorage.removeItem(name)
}

function say(text) {
  byId('state').textContent = text
}

/** Shows the forms, or who is signed in and the organizations to choose from. */
export function showEntrance() {
  byId('enter').hidden = isSignedIn()
  byId('sign-out').hidden = !sessionStorage.getItem('credential')?.startsWith('st_')
  const orgs = JSON.parse(sessionStorage.getItem('orgs') ?? '[]')
  byId('choose').hidden = orgs.length < 2
  byId('org').replaceChildren(...orgs.map(({ id, name }) => new Option(name, id)))
  byId('org').value = sessionStorage.getItem('org') ?? ''
}

/** Prepares the forms; `changed` is called whenever somebody signed in or out. Resolves when the page is ready. */
export async function openEntrance(changed) {
  const onSubmit = (id, act) =>
    byId(id).addEventListener('submit', async (submit) => {
      submit.preventDefault()
      const button = submit.target.querySelector('button')
      button.disabled = true
      try {
        const given = Object.fromEntries([...new FormData(submit.target)].filter(([, value]) => value !== ''))
        await act(given)
        submit.target.reset()
        for (const form of ['set-up', 'accept', 'sign-in', 'by-key']) {
          byId(form).hidden = form === 'set-up' || form === 'accept'
        }
        changed()
      } catch (error) {
        say(error.message)
      } finally {
        button.disabled = false
      }
    })
  const open = async (path, body) => {
    const { token, orgs } = await ask('POST', `/v1/auth/${path}`, body)
    remember(token, orgs)
  }
  onSubmit('sign-in', (given) => open('login', given))
  onSubmit('set-up', (given) => open('setup', { ...given, token: fromAddress.get('setup') }))
  onSubmit('accept', (given) => open('invite', { ...given, token: fromAddress.get('invite') }))
  onSubmit('by-key', async ({ key }) => remember(key.trim()))
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
  byId('oidc').addEventListener('click', () => sessionStorage.setItem('oidc', 'began'))
  await arrive(open)
  changed()
}

/** What the address says on arrival. */
async function arrive(open) {
  if (['setup', 'invite'].some((word) => fromAddress.has(word))) forget()
  try {
    // Only the demo gives out keys in links: elsewhere one from somebody could sign a person in as that somebody.
    if (fromAddress.has('demo') && (await fetch('/demo/inbox')).ok) {
      sessionStorage.setItem('demo', 'yes')
      if (fromAddress.has('key')) remember(fromAddress.get('key'))
    }
    // Only where this tab began it, for the same reason.
    const began = sessionStorage.getItem('oidc') !== null
    sessionStorage.removeItem('oidc')
    if (began && fromAddress.has('signin-error')) say(fromAddress.get('signin-error'))
    if (began && fromAddress.has('signin')) await open('oidc/session', { code: fromAddress.get('signin') })
    const { setUp, oidc } = await ask('GET', '/v1/auth/methods')
    byId('set-up').hidden = !fromAddress.has('setup')
    byId('accept').hidden = !fromAddress.has('invite')
    byId('sign-in').hidden = setUp || fromAddress.has('invite')
    byId('by-key').hidden = byId('sign-in').hidden
    if (setUp && !fromAddress.has('setup')) say('Nobody has set up this server yet: open the link in its log.')
    byId('oidc').hidden = oidc === null
    if (oidc) byId('oidc').textContent = `Sign in with ${oidc.name}`
  } catch (error) {
    say(error.message)
  }
}
