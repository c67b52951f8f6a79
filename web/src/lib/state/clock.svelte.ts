/** The time of day for ages, once a second and only while something shows it. */
import { createSubscriber } from 'svelte/reactivity';

class Clock {
  #subscribe = createSubscriber((update) => {
    const timer = setInterval(update, 1000);
    return () => clearInterval(timer);
  });

  /** Milliseconds since 1970. */
  get now(): number {
    this.#subscribe();
    return Date.now();
  }
}

export const clock = new Clock();
