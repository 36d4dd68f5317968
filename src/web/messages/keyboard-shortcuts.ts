/** The keyboard shortcuts dialog. Keys in a sequence are separated by spaces. */
export const keys = {
  everywhere: {
    title: 'Everywhere',
    keys: [
      { key: 'Ctrl K', action: 'Open the command palette' },
      { key: '?', action: 'Show this list' },
      { key: '/', action: 'Search on this page' },
      { key: 'c', action: 'New alert' },
      { key: 'z', action: 'Undo the last action' },
      { key: '1 2 3 4', action: 'Time range: 24 h, 3 d, 7 d, 30 d' },
      { key: 'Esc', action: 'Close, or clear the selection' },
    ],
  },
  goTo: 'Go to',
  list: {
    title: 'In a list',
    keys: [
      { key: 'j k', action: 'Next, previous' },
      { key: 'Enter', action: 'Open' },
      { key: 'x', action: 'Select' },
      { key: 'Shift j', action: 'Extend the selection' },
      { key: 'a', action: 'Acknowledge' },
      { key: 'r', action: 'Resolve' },
      { key: 'u', action: 'Reopen' },
      { key: 'm', action: 'Mute' },
    ],
  },
  issue: {
    title: 'On an issue',
    keys: [
      { key: 'j k', action: 'Next, previous issue in the list' },
      { key: 'a r u m', action: 'Acknowledge, resolve, reopen, mute' },
      { key: 'n', action: 'Write a note' },
      { key: 'y', action: 'Copy link' },
    ],
  },
  form: { title: 'In a form', keys: [{ key: 'Ctrl Enter', action: 'Save' }] },
}
