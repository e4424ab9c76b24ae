export type PassphraseTask = 'set' | 'change' | 'remove' | 'unlock'

export const passphraseLooks: Record<PassphraseTask, { title: string; text: string; action: string; done: string }> = {
  set: {
    title: 'Set a passphrase',
    text: 'Without it the secrets cannot be opened: not by somebody else at this computer, and not by us. If you forget it, enter the secrets again.',
    action: 'Seal with it',
    done: 'The secrets are sealed with your passphrase',
  },
  change: {
    title: 'Change the passphrase',
    text: 'Everything is sealed anew with the new one.',
    action: 'Change it',
    done: 'The passphrase was changed',
  },
  remove: {
    title: 'Do without a passphrase',
    text: 'The key of this browser opens the secrets again, without asking anybody.',
    action: 'Do without',
    done: 'The secrets open without a passphrase',
  },
  unlock: {
    title: 'Unlock the secrets',
    text: 'They stay open until this browser is closed or you lock them.',
    action: 'Unlock',
    done: 'Unlocked. What waited for it is in the inbox',
  },
}
